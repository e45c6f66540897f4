"""Do what nobody asks for by hand: choose what fits, begin with an element, play, record, try again, watch files."""
