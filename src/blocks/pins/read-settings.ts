import { fieldNameProblem } from '../../shared/field-path.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import { requestFieldsProblem } from '../../shared/request-field.ts'
import { storageNameProblem } from '../../storage/system-storages.ts'
import type { BlockDefinition } from '../block.ts'
import type { Setting, Settings, SettingValues } from '../setting.ts'
import { operationProblem } from './operation-problem.ts'

/** `message` finishes the sentence "The setting <setting> …". */
export interface SettingProblem {
  readonly setting: string
  readonly message: string
}

/** Each name can become a pin; more than a person can read on one block is a mistake. */
const MAX_NAMES = 200

/**
 * Reads a block's `fields` by its settings: checked values with defaults, and what is wrong. Null and '' count as not set.
 * `unknownSettings` tells which fields are no settings: blueprints that were deployed with one keep running.
 */
export function readSettings(
  settings: Settings,
  fields: JsonObject,
): { values: SettingValues<Settings>; problems: SettingProblem[] } {
  const values: Record<string, unknown> = {}
  const problems: SettingProblem[] = []
  for (const [setting, definition] of Object.entries(settings)) {
    const input = Object.hasOwn(fields, setting) ? fields[setting] : undefined
    if (input === undefined || input === null || input === '') {
      values[setting] = unset(definition)
      if (definition.required && isMissing(values[setting])) problems.push({ setting, message: 'is not set' })
      continue
    }
    const message = settingProblem(definition, input) ?? emptyListProblem(definition, input)
    if (message === undefined) values[setting] = input
    else problems.push({ setting, message })
  }
  // Each value was checked against its own setting, which the type of a whole record cannot follow.
  return { values: values as SettingValues<Settings>, problems }
}

/** Unknown settings of one block that are reported, and settings and pins of a block that a message lists. */
const MOST_UNKNOWN = 20
/** Of a name in a message. */
const LONGEST_NAME = 60

type Known = Pick<BlockDefinition, 'settings' | 'in'>

/** The fields that the block has no setting for, at most 20; each message is a whole sentence. */
export function unknownSettings(definition: Known, fields: JsonObject): SettingProblem[] {
  const problems: SettingProblem[] = []
  for (const [setting, value] of Object.entries(fields)) {
    const isSet = value !== null && value !== ''
    if (!isSet || Object.hasOwn(definition.settings, setting)) continue
    problems.push({ setting: shownName(setting), message: unknownName('setting', setting, definition) })
    if (problems.length === MOST_UNKNOWN) break
  }
  return problems
}

/** What is said of a name that the block has no setting or in-pin for, with the name that was probably meant. */
export function unknownName(
  kind: 'setting' | 'in-pin',
  name: string,
  { settings, in: pins }: Known,
  added: Iterable<string> = [],
): string {
  const inPins = [...Object.keys(pins), ...added]
  const [own, others, other] =
    kind === 'setting'
      ? [Object.keys(settings), inPins, 'an in-pin']
      : [inPins, Object.keys(settings), 'a setting']
  const shown = shownName(name)
  const said = `The block has no ${kind} ${shown}.`
  if (others.includes(name)) return `${said} ${shown} is ${other} of it.`
  const near = nearestName(name, own)
  if (near !== undefined) return `${said} Did you mean ${near}?`
  if (own.length === 0 || own.length > MOST_UNKNOWN) return said
  return `${said} It has ${own.join(', ')}.`
}

function shownName(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
}

function unset(setting: Setting): unknown {
  if (setting.kind === 'names' || setting.kind === 'fields') return []
  return 'default' in setting ? setting.default : undefined
}

function isMissing(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0)
}

function emptyListProblem(setting: Setting, input: JsonValue): string | undefined {
  return setting.required && isMissing(input) ? 'is not set' : undefined
}

/** What is wrong with a value for a setting, or undefined. */
export function settingProblem(setting: Setting, value: JsonValue): string | undefined {
  switch (setting.kind) {
    case 'text':
      return typeof value === 'string' ? undefined : 'must be text'
    case 'storage':
      return typeof value === 'string' ? storageNameProblem(value) : 'must be the name of a storage'
    case 'number':
      return numberProblem(setting, value)
    case 'switch':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'choice':
      return typeof value === 'string' && setting.options.includes(value)
        ? undefined
        : `must be one of ${setting.options.join(', ')}`
    case 'names':
      return namesProblem(value)
    case 'fields':
      return requestFieldsProblem(value)
    case 'operation':
      return operationProblem(value)
  }
}

function numberProblem(setting: Setting & { kind: 'number' }, value: JsonValue): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number'
  if (setting.min !== undefined && value < setting.min) return `must be at least ${setting.min}`
  return setting.max !== undefined && value > setting.max ? `must be at most ${setting.max}` : undefined
}

function namesProblem(value: JsonValue): string | undefined {
  if (!Array.isArray(value)) return 'must be a list of names'
  if (value.length > MAX_NAMES) return `must hold at most ${MAX_NAMES} names`
  const seen = new Set<string>()
  for (const name of value) {
    if (typeof name !== 'string') return 'must be a list of names'
    const problem = fieldNameProblem(name)
    if (problem) return `holds ${JSON.stringify(name)}, which ${problem}`
    if (seen.has(name)) return `holds ${JSON.stringify(name)} twice`
    seen.add(name)
  }
  return undefined
}
