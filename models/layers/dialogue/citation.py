"""The paper that all networks on dialogues are from, and how its figures compare with ours."""

REFERENCE = (
    'Zhang, Dinan, Urbanek, Szlam, Kiela, Weston, "Personalizing dialogue agents: I have a dog, do you have pets '
    'too?", 2018, section '
)
OURS = "Ours are dialogues made up from templates, with few words and few facts: the two figures cannot be compared."
