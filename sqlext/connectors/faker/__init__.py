"""Made-up values by expressions of Datafaker: ``#{Name.fullName}``, ``#{number.numberBetween '1','10'}``."""
