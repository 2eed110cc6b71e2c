/** Control characters, line breaks among them, and the two further ends of lines that Unicode has. */
const NOT_IN_LINE = /[\p{Cc}\p{Zl}\p{Zp}]/u

export const ONE_LINE = 'must be one line without line breaks and other control characters'
/** {@link isOneLine} as JSON Schema says it. */
export const ONE_LINE_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$'

/** Whether a text can stand where one line is asked for: in a subject, a header, a name. */
export function isOneLine(text: string): boolean {
  return !NOT_IN_LINE.test(text)
}
