"""Train and judge generators that learn against discriminators."""
