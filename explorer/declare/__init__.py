"""Say what there is: fields, groups, elements, parameters, cards, equations, spaces. No network is run here."""
