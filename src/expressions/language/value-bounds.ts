/** The longest text that an expression makes: about 1 MB. */
export const mostCharacters = 1_000_000

/** The longest list that an expression makes. */
export const mostElements = 10_000
