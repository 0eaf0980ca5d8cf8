"""The one gate: may this be done? Pure decisions with reasons."""
