"""The ground that every stage stands on: errors, identity, configuration, records and ports."""
