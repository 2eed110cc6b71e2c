/** Short names for the types of parameters. They keep their kind as a literal type, from which the types of bodies follow. */
export const any = { kind: 'any' } as const
export const text = { kind: 'text' } as const
export const number = { kind: 'number' } as const
export const whole = { kind: 'whole' } as const
export const condition = { kind: 'condition' } as const
export const object = { kind: 'object', fields: {}, open: true } as const
export const list = { kind: 'list', of: any } as const
export const texts = { kind: 'list', of: text } as const
/** A list, of whose elements the function or its arrow function speaks. */
export const items = { kind: 'items' } as const
export const arrow = { kind: 'arrow', gives: 'any', takes: 'item' } as const
export const conditionArrow = { kind: 'arrow', gives: 'condition', takes: 'item' } as const
export const numberArrow = { kind: 'arrow', gives: 'number', takes: 'item' } as const
export const reducer = { kind: 'arrow', gives: 'any', takes: 'reduced' } as const

/** ISO 8601 text, or Unix seconds. */
export const date = [text, number] as const
/** Of a function that takes a text or a list. */
export const textOrList = [text, list] as const

export const optionalZone = { name: 'zone', type: text, optional: true } as const
export const optionalLocale = { name: 'locale', type: text, optional: true } as const
