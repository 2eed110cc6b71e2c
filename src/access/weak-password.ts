/** What is wrong with a password that guessers try first, in words that finish "password …", or undefined. */
import { normalizedText } from '../shared/texts/normalized-text.ts'
import { isCommonPassword } from './common-passwords.ts'

/** A username of fewer characters is part of too many words. */
const SHORTEST_USERNAME = 4
/** `abcabcabcabc` repeats 3 characters. Longer ones that repeat are in the list if people use them. */
const LONGEST_UNIT = 3
/** With digits or signs around them they are still the same guess: password2026! */
const bases = new Set([
  'admin',
  'administrator',
  'changeme',
  'iloveyou',
  'kennwort',
  'letmein',
  'passw0rd',
  'password',
  'passwort',
  'quoin',
  'qwerty',
  'qwertz',
  'welcome',
])

export function weakPasswordProblem(password: string, username: string): string | undefined {
  const text = normalizedText(password, 'NFKC').toLowerCase()
  if (repeats(text)) return 'must not repeat the same few characters'
  if (isRow(text, 1) || isRow(text, 9)) return 'must not be digits in a row'
  const name = normalizedText(username, 'NFKC').toLowerCase()
  if (name.length >= SHORTEST_USERNAME && text.includes(name)) return 'must not contain the user name'
  if (bases.has(text.replace(/^[^\p{L}]+|(?<![^\p{L}])[^\p{L}]+$/gu, '')) || isCommonPassword(text))
    return 'is a common password; choose a longer sentence or a random one'
  return undefined
}

function repeats(text: string): boolean {
  for (let unit = 1; unit <= LONGEST_UNIT; unit++)
    if (
      text ===
      text
        .slice(0, unit)
        .repeat(Math.ceil(text.length / unit))
        .slice(0, text.length)
    )
      return true
  return false
}

/** Whether each digit follows from the one before by the step: 1 is up, 9 is down. */
function isRow(text: string, step: number): boolean {
  if (!/^\d+$/.test(text)) return false
  return [...text].every((digit, at) => at === 0 || Number(digit) === (Number(text[at - 1]) + step) % 10)
}
