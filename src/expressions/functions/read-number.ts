const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const LONGEST = 400

/** The finite number that a text spells, with spaces around it; undefined for any other text. */
export function numberFromText(text: string): number | undefined {
  const written = text.trim()
  if (written.length > LONGEST || !NUMBER.test(written)) return undefined
  const number = Number(written)
  return Number.isFinite(number) ? number + 0 : undefined
}
