"""Steps of lessons: what a person is asked to do, and whether that is done."""
