"""The boosting loop: in each round a learner proposes a term, which is added to the model."""
