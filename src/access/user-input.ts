/**
 * What a client may say about a user, and what each field must be. Read-only fields of a record (`_meta`, the counters)
 * are ignored, so that a record can be fetched, changed and sent back; any other unknown field is refused.
 */
import { invalidField, QuoinError } from '../shared/errors.ts'
import { isGuid } from '../shared/guid.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonProblem } from '../shared/json.ts'
import { normalizedText } from '../shared/texts/normalized-text.ts'
import { isCommonPassword } from './common-passwords.ts'
import { scopeNameProblem } from './scopes.ts'
import { hasInvisible } from './visible-text.ts'

/** Why a password is one that guessers try first, in words that finish "password …". */
const weakPasswords = {
  repeated: 'must not repeat the same few characters',
  digits: 'must not be digits in a row',
  username: 'must not contain the user name',
  common: 'is a common password that attackers try first; choose a longer sentence or a random one',
} as const

export type WeakPassword = keyof typeof weakPasswords

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

export async function weakPassword(password: string, username: string): Promise<WeakPassword | undefined> {
  const text = normalizedText(password, 'NFKC').toLowerCase()
  if (repeats(text)) return 'repeated'
  if (isRow(text, 1) || isRow(text, 9)) return 'digits'
  const name = normalizedText(username, 'NFKC').toLowerCase()
  if (name.length >= SHORTEST_USERNAME && text.includes(name)) return 'username'
  const base = text.replace(/^[^\p{L}]+|(?<![^\p{L}])[^\p{L}]+$/gu, '')
  return bases.has(base) || (await isCommonPassword(text)) ? 'common' : undefined
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

export const MAX_EMAIL = 254
const MIN_PASSWORD = 10
export const MAX_PASSWORD = 1024
const MAX_NAME = 100
const MAX_USERNAME = 64
const MAX_ITEMS = 100
/** Of one user. */
export const MOST_GROUPS = MAX_ITEMS
/** Twice as many as management has. */
const MAX_SCOPES = 200
const MAX_SETTINGS_LENGTH = 16_384

export interface UserInput {
  /** Checked, by the record's own field names. */
  readonly fields: JsonObject
  readonly password: string | undefined
}

/** What is wrong with a value, in words that finish "<field> …", or undefined. */
type Check = (value: JsonValue) => string | undefined

const checks: Readonly<Record<string, Check>> = {
  username: usernameProblem,
  password: passwordProblem,
  email: emailProblem,
  firstname: nameProblem,
  lastname: nameProblem,
  timezone: timezoneProblem,
  language: languageProblem,
  settings: settingsProblem,
  custom_scopes: (value) => listProblem(value, scopeNameProblem, MAX_SCOPES),
  groups: (value) => listProblem(value, (item) => (isGuid(item) ? undefined : 'is not the guid of a group')),
  is_active: flagProblem,
  is_service: flagProblem,
}

const otherNames: Readonly<Record<string, string>> = {
  first_name: 'firstname',
  last_name: 'lastname',
  active: 'is_active',
}

const readOnly = new Set(['_meta', 'login_attempts', 'locked_until', 'last_activity', 'invited_until'])

/** INVALID_BODY naming every field that does not fit. */
export function userInput(input: JsonObject, required: readonly string[] = []): UserInput {
  const fields: Record<string, JsonValue> = {}
  const problems = new Map<string, string>()
  for (const [inputs, value] of Object.entries(input)) {
    if (readOnly.has(inputs)) continue
    const field = Object.hasOwn(otherNames, inputs) ? (otherNames[inputs] ?? inputs) : inputs
    const check = Object.hasOwn(checks, field) ? checks[field] : undefined
    if (!check) problems.set(inputs, 'is not a field of a user')
    else if (Object.hasOwn(fields, field))
      problems.set(inputs, `says the same as ${otherNameOf(inputs)}; send one`)
    else {
      const problem = jsonProblem(value) ?? check(value)
      if (problem) problems.set(inputs, problem)
      fields[field] = value
    }
  }
  for (const field of required) if (!Object.hasOwn(fields, field)) problems.set(field, 'is required')
  if (problems.size > 0) {
    const sentences = [...problems].map(([field, problem]) => `${field} ${problem}.`)
    throw new QuoinError('INVALID_BODY', sentences.join(' '), { fields: [...problems.keys()] })
  }
  const { password, ...rest } = fields
  if (rest.email === '') rest.email = null
  return { fields: rest, password: typeof password === 'string' ? password : undefined }
}

/** Refuses a password that is too short or too long, or that guessers try first: `details.weak` says why, for pages. */
export async function checkPassword(password: string, username: string): Promise<void> {
  const problem = passwordProblem(password)
  if (problem) throw invalidField('password', `password ${problem}.`)
  const weak = await weakPassword(password, username)
  if (weak)
    throw new QuoinError('INVALID_BODY', `password ${weakPasswords[weak]}.`, {
      ...{ fields: ['password'], details: { weak } },
    })
}

function otherNameOf(inputs: string): string {
  const main = otherNames[inputs]
  return main ?? Object.keys(otherNames).find((name) => otherNames[name] === inputs) ?? inputs
}

function flagProblem(value: JsonValue): string | undefined {
  return typeof value === 'boolean' ? undefined : 'must be true or false'
}

function usernameProblem(value: JsonValue): string | undefined {
  if (typeof value !== 'string') return 'must be a text'
  if (value === '' || [...value].length > MAX_USERNAME) return `must have 1 to ${MAX_USERNAME} characters`
  if (value !== value.trim()) return 'must not start or end with a space'
  return hasInvisible(value) ? 'must not contain invisible or control characters' : undefined
}

function passwordProblem(value: JsonValue): string | undefined {
  if (typeof value !== 'string' || !value.isWellFormed()) return 'must be a text'
  if ([...value].length < MIN_PASSWORD) return `must have at least ${MIN_PASSWORD} characters`
  return value.length > MAX_PASSWORD ? `must have at most ${MAX_PASSWORD} characters` : undefined
}

function emailProblem(value: JsonValue): string | undefined {
  if (value === null || value === '') return undefined
  if (typeof value !== 'string') return 'must be a text'
  if (value.length > MAX_EMAIL) return `must have at most ${MAX_EMAIL} characters`
  return hasInvisible(value) || !/^[^\s@]+@[^\s@]+$/.test(value)
    ? 'must look like name@example.com'
    : undefined
}

function nameProblem(value: JsonValue): string | undefined {
  if (typeof value !== 'string') return 'must be a text'
  if ([...value].length > MAX_NAME) return `must have at most ${MAX_NAME} characters`
  return /\p{Cc}/u.test(value) ? 'must not contain control characters' : undefined
}

function timezoneProblem(value: JsonValue): string | undefined {
  const isKnown =
    typeof value === 'string' && accepts(() => new Intl.DateTimeFormat('en', { timeZone: value }))
  return isKnown ? undefined : 'must be an IANA time zone such as Europe/Amsterdam'
}

function languageProblem(value: JsonValue): string | undefined {
  const isTag = typeof value === 'string' && value.length <= 35 && accepts(() => new Intl.Locale(value))
  return isTag ? undefined : 'must be a language tag such as en or nl-NL'
}

function settingsProblem(value: JsonValue): string | undefined {
  const isSetting = (item: JsonValue) =>
    isJsonObject(item) && typeof item.key === 'string' && item.key !== '' && item.value !== undefined
  if (!Array.isArray(value) || !value.every(isSetting)) return 'must be a list of { key, value }'
  if (value.length > MAX_ITEMS) return `must have at most ${MAX_ITEMS} entries`
  return JSON.stringify(value).length > MAX_SETTINGS_LENGTH ? 'must be at most 16 KiB of JSON' : undefined
}

function listProblem(
  value: JsonValue,
  itemProblem: (item: string) => string | undefined,
  most = MAX_ITEMS,
): string | undefined {
  if (!Array.isArray(value)) return 'must be a list of texts'
  if (value.length > most) return `must have at most ${most} entries`
  for (const item of value) {
    if (typeof item !== 'string') return 'must be a list of texts'
    const problem = itemProblem(item)
    if (problem) return `holds ${JSON.stringify(item)}, which ${problem}`
  }
  return undefined
}

function accepts(make: () => unknown): boolean {
  try {
    make()
    return true
  } catch {
    return false
  }
}
