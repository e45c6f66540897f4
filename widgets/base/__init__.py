"""Share what every view needs: the view itself, words, colours, theme, controls."""
