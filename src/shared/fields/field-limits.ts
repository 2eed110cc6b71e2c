/** The limits of one field's values: `validation_rules` of a blueprint field. Which apply is the affair of its type. */
export interface FieldLimits {
  /** Numbers; for dates ISO 8601 text. */
  readonly min?: number | string
  readonly max?: number | string
  /** Characters of text, items of a list. */
  readonly min_length?: number
  readonly max_length?: number
  /** For text: must be found in it. `^` and `$` tie it to the ends. */
  readonly pattern?: string
  /** The value, or each item of a list, must be one of these. */
  readonly choices?: readonly (string | number)[]
  /** Digits after the decimal point. */
  readonly places?: number
  /** ISO 4217: the decimal is an amount of money. */
  readonly currency?: string
  /** The first number that is given. */
  readonly start?: number
  /** The type of each item of a list. */
  readonly items?: ItemType
}

export const itemTypes = [
  'string',
  'line',
  'number',
  'integer',
  'boolean',
  'day',
  'instant',
  'email',
  'url',
  'phone',
] as const
export type ItemType = (typeof itemTypes)[number]
