/** Whose keys. */
export const ownerOperand = { name: '<username>' } as const

export const aboutOwner = 'The username is that of the owner; `me` stands for the user who calls, with --url.'
