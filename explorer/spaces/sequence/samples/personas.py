"""Made-up dialogues between two people with profiles, in the form of Persona-chat and with sentences of our own.

A profile tells one fact of each of five topics, plainly ("i have a dog .") or in other words, which share none with the
reply ("someone barks when the door bell rings ."). The partner asks about the topics and tells of himself; the right
reply follows from the fact. Among the 20 candidates some answer the same question for somebody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from explorer.declare.samples import Sample, SampleSpec
from explorer.spaces.sequence.samples.persona_chat import (
    SYMBOLS,
    Dialogue,
    Exchange,
    Turn,
    text_of,
    turn_set,
    turn_words,
    turns_of,
    words_in,
)

CANDIDATES = 20
SAME_TOPIC = 6  # of the wrong candidates, at most
FACTS = 5  # sentences of a profile
PLAIN = 0.6  # share of facts that are told plainly
SEED = 2018


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of small talk: facts as (plain, in other words, reply), and questions that ask for them."""

    name: str
    questions: tuple[str, ...]
    facts: tuple[tuple[str, str, str], ...]


TOPICS = (
    Topic(
        "pets",
        ("do you have any pets ?", "is there an animal in your house ?"),
        (
            ("i have a dog .", "someone barks when the door bell rings .", "yes , my dog sleeps next to me now ."),
            ("i have a cat .", "every mouse is afraid of my tom .", "sure , a cat that scratches the sofa ."),
            ("i have a parrot .", "he repeats every word i say .", "a parrot , and he talks more than me ."),
            ("i have a horse .", "each morning i go to the stable .", "i ride my horse after breakfast ."),
            ("i keep goldfish .", "my aquarium needs fresh water .", "only goldfish , they are quiet ."),
            ("i have no animals .", "fur makes me sneeze .", "no animals at all , sadly ."),
        ),
    ),
    Topic(
        "work",
        ("what do you do for a living ?", "where do you work ?"),
        (
            ("i am a nurse .", "night shifts at the hospital are long .", "i am a nurse and help sick people ."),
            ("i am a baker .", "i get up at three for the bread .", "i am a baker , my rolls are famous ."),
            ("i am a pilot .", "my office is above the clouds .", "i am a pilot and fly to japan tomorrow ."),
            ("i teach at a school .", "thirty children call me by my last name .", "i teach small kids to read ."),
            ("i drive a truck .", "the highway is my second home .", "i drive a truck from coast to coast ."),
            ("i write novels .", "my third book comes out in spring .", "i write novels , mostly crime stories ."),
        ),
    ),
    Topic(
        "food",
        ("what do you like to eat ?", "what is for dinner ?"),
        (
            ("i love pizza .", "naples has the best ovens .", "pizza with a lot of cheese , always ."),
            ("i love sushi .", "raw tuna makes me happy .", "sushi , i could live on rice ."),
            ("i eat no meat .", "for years i have been a vegetarian .", "a big salad , no meat for me ."),
            ("i love tacos .", "mexico is on my plate on tuesdays .", "tacos , the hotter the better ."),
            ("i cook soup .", "my grandmother left me her large pot .", "a hot soup with carrots ."),
            ("i love pancakes .", "maple syrup goes on everything .", "pancakes , even in the evening ."),
        ),
    ),
    Topic(
        "free time",
        ("what do you do for fun ?", "do you have a hobby ?"),
        (
            ("i play the guitar .", "six strings are enough for me .", "i play the guitar in a band ."),
            ("i go climbing .", "mountains call me each weekend .", "climbing , i was on a steep rock today ."),
            ("i paint .", "my hands are full of colours .", "i paint flowers on big canvas ."),
            ("i play chess .", "my queen is never lost .", "chess , i won against my uncle ."),
            ("i dance .", "salsa is in my feet .", "i dance until the lights go out ."),
            ("i grow roses .", "my garden smells wonderful .", "i water the roses and cut them ."),
        ),
    ),
    Topic(
        "place",
        ("where do you live ?", "where are you from ?"),
        (
            ("i live in norway .", "our fjords are deep and cold .", "in norway , it snows right now ."),
            ("i live in texas .", "cowboy boots fill my wardrobe .", "in texas , where all is bigger ."),
            ("i live on a farm .", "our cows wake us at dawn .", "on a farm , far from any street ."),
            ("i live in paris .", "the eiffel tower is in my window .", "in paris , next to a small bakery ."),
            ("i live by the sea .", "waves sing me to sleep .", "by the sea , i hear the gulls ."),
            ("i live in egypt .", "pyramids are near my flat .", "in egypt , the sun burns all year ."),
        ),
    ),
    Topic(
        "family",
        ("do you have a family ?", "are you married ?"),
        (
            ("i have two sons .", "my boys fight over every toy .", "yes , two sons who never sit still ."),
            ("i am single .", "nobody waits for me at night .", "no , i am single and free ."),
            ("i have a twin sister .", "people mix us up all the time .", "my twin sister is my family ."),
            ("i just got married .", "my wedding dress was blue .", "we got married in june ."),
            ("i have ten cousins .", "at christmas we need three tables .", "a huge one , ten cousins alone ."),
        ),
    ),
)  # fmt: skip
GREETINGS = ("hi there .", "hello , nice to meet you .", "hey , how are you today ?")
BRIDGES = ("oh , nice .", "that sounds great .", "really ? cool .", "i see .", "ha , i like that .")


def fact_of(chance: np.random.Generator, topic: Topic, other: int = -1) -> int:
    """Draw the number of a fact, not `other`."""
    left = [k for k in range(len(topic.facts)) if k != other]
    return left[int(chance.integers(len(left)))]


def told(chance: np.random.Generator, topic: Topic, fact: int) -> str:
    """Return the sentence that a profile has for a fact."""
    return topic.facts[fact][0 if chance.random() < PLAIN else 1]


def one_of(chance: np.random.Generator, texts: tuple[str, ...]) -> str:
    """Draw one text."""
    return texts[int(chance.integers(len(texts)))]


def candidates(chance: np.random.Generator, topic: Topic, fact: int) -> tuple[str, ...]:
    """Draw what may be replied: the right reply, some of other facts of the topic, others of other topics."""
    right = topic.facts[fact][2]
    same = [f[2] for f in topic.facts if f[2] != right]
    others = [f[2] for t in TOPICS if t is not topic for f in t.facts]
    near = [same[k] for k in chance.permutation(len(same))[: int(chance.integers(3, SAME_TOPIC))]]
    far = [others[k] for k in chance.permutation(len(others))[: CANDIDATES - 1 - len(near)]]
    drawn = [right, *near, *far]
    return tuple(drawn[k] for k in chance.permutation(CANDIDATES))


def dialogue(chance: np.random.Generator) -> Dialogue:
    """Draw two profiles and 4 to 5 exchanges."""
    topics = [TOPICS[k] for k in chance.permutation(len(TOPICS))[:FACTS]]
    mine = [fact_of(chance, topic) for topic in topics]
    theirs = [fact_of(chance, topic, fact) for topic, fact in zip(topics, mine, strict=True)]
    exchanges = []
    for k in range(int(chance.integers(4, FACTS + 1))):
        topic, fact = topics[k], mine[k]
        opening = one_of(chance, BRIDGES if k else GREETINGS)
        # the partner tells of himself: what is said of oneself in the history is no fact of the other's profile
        aside = f"{topics[k - 1].facts[theirs[k - 1]][0]} " if k and chance.random() < 0.4 else ""
        query = f"{opening} {aside}{one_of(chance, topic.questions)}"
        exchanges.append(Exchange(query, topic.facts[fact][2], candidates(chance, topic, fact)))
    order = chance.permutation(FACTS)
    own = tuple(told(chance, topics[k], mine[k]) for k in order)
    return Dialogue(own, (), tuple(exchanges))


@cache
def dialogues(count: int, seed: int = SEED) -> tuple[Dialogue, ...]:
    """Return so many dialogues; the same seed gives the same ones, and the first of many are those of few."""
    chance = np.random.default_rng(seed)
    return tuple(dialogue(chance) for _ in range(count))


HELD_OUT, LEARNED = 40, 360


def held_out() -> tuple[Dialogue, ...]:
    """Return the dialogues that no network has learned from: those that are shown."""
    return dialogues(HELD_OUT)


def learned_from(count: int = LEARNED) -> tuple[Dialogue, ...]:
    """Return dialogues for training; their sentences are those of the others, their profiles are not."""
    profiles = {frozenset(d.own) for d in held_out()}
    return tuple(d for d in dialogues(HELD_OUT + count)[HELD_OUT:] if frozenset(d.own) not in profiles)


def vocabulary() -> tuple[str, ...]:
    """Return the symbols and all words that the dialogues are made of, in ascending order."""
    sentences = [*GREETINGS, *BRIDGES, *(q for t in TOPICS for q in t.questions)]
    sentences += [text for t in TOPICS for fact in t.facts for text in fact]
    return (*SYMBOLS, *sorted({word for sentence in sentences for word in words_in(sentence)}))


def turn(number: int) -> Turn:
    """Return a turn of the dialogues that no network has learned from, from 0."""
    return list(turns_of(held_out()))[number]


def _set(name: str, title: str, number: int) -> Sample:
    return turn_set(turn(number), name, title, f"made up, seed {SEED}", ("a dialogue of our own making",))


def _words(name: str, title: str, number: int) -> Sample:
    note = ("a dialogue of our own making",)
    return turn_words(turn(number), name, vocabulary(), title, f"made up, seed {SEED}", note)


SHOWN = (
    ("first", "A first question", 0, "The dialogue begins: no history yet."),
    ("plain", "A question that the profile answers plainly", 2, "One sentence of the profile is in the reply."),
    (
        "other-words",
        "A question that the profile answers in other words",
        3,
        "What fits shares no word with the reply.",
    ),
)

SAMPLES = (
    *(
        SampleSpec(f"persona-{key}", title, "set", partial(_set, f"persona-{key}", title, number), words, ("dialogue",))
        for key, title, number, words in SHOWN
    ),
    *(
        SampleSpec(
            f"persona-{key}-words", f"{title}, in words", "sequence",
            partial(_words, f"persona-{key}-words", title, number), words, ("tokens", "dialogue"),
        )
        for key, title, number, words in SHOWN
    ),
)  # fmt: skip

if __name__ == "__main__":
    import sys

    Path(sys.argv[1]).write_text(text_of(held_out()), encoding="utf-8")
