"""The foundation of every stage: errors, identity, configuration, records and ports."""
