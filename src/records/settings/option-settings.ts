/**
 * The options of the server with what each is set to. Of three texts the first counts: that of the environment of the
 * process, that of the setting, the default. So an operator can always overrule what was set in the studio.
 */
import type { OptionSetting } from '../../shared/api/operate/settings.ts'
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import type { ServerOption } from '../../shared/server-option.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { Actor } from '../records.ts'
import type { Lacks } from '../secret-route.ts'
import type { Settings } from './settings.ts'

export interface OptionSettings {
  list(): readonly OptionSetting[]
  /** NOT_FOUND for what is no option of a server, as for the others. */
  get(name: string): OptionSetting
  /** INSUFFICIENT_PERMISSIONS without a scope of its own; CONFLICT where the text would not count; INVALID_BODY where it is not accepted. */
  set(name: string, text: string, by: Actor, lacks: Lacks): Promise<OptionSetting>
  /** The option has its default again. CONFLICT where it needs a restart. */
  unset(name: string, by: Actor, lacks: Lacks): Promise<OptionSetting>
}

/** `inherited`: texts that count in place of the defaults, for a space. */
export function optionSettings(
  kinds: readonly ServerOption[],
  input: Readonly<Record<string, string>>,
  settings: Settings,
  inherited: () => ReadonlyMap<string, string> = () => new Map(),
): OptionSettings {
  const kindOf = (name: string) => {
    const kind = kinds.find((one) => one.name === name)
    if (kind) return kind
    const nearest = nearestName(
      name,
      kinds.map((one) => one.name),
    )
    const advice = nearest === undefined ? '' : ` Did you mean ${nearest}?`
    throw new QuoinError('NOT_FOUND', `There is no setting ${JSON.stringify(name)}.${advice}`)
  }
  const shown = (kind: ServerOption) => {
    const { changeable, fallback, name, problem } = kind
    const text = changeable ? inherited().get(name) : undefined
    const counts = text !== undefined && problem(text) === undefined
    return shownSetting(
      { ...kind, fallback: counts ? text : fallback },
      input[name],
      settings.present().get(name),
    )
  }
  const changeable = (name: string, lacks: Lacks) => {
    const kind = kindOf(name)
    if (kind.scope && lacks(kind.scope))
      throw new QuoinError(
        'INSUFFICIENT_PERMISSIONS',
        `The scope ${kind.scope} is missing: it is needed to change ${name}.`,
      )
    if (kind.changeable) return kind
    throw new QuoinError('CONFLICT', `${name} needs a restart: set it in the environment of each node.`)
  }
  return {
    list: () => kinds.map(shown),
    get: (name) => shown(kindOf(name)),
    async set(name, text, by, lacks) {
      const kind = changeable(name, lacks)
      if (Object.hasOwn(input, name))
        throw new QuoinError(
          'CONFLICT',
          `The environment of this node sets ${name}, which overrides the setting. Remove it there first.`,
        )
      const problem = kind.problem(text)
      if (problem !== undefined) throw invalidField('value', problem)
      await settings.set(name, text.trim(), by)
      return shown(kind)
    },
    async unset(name, by, lacks) {
      const kind = changeable(name, lacks)
      await settings.unset(name, by)
      return shown(kind)
    },
  }
}

function shownSetting(
  { name, help, accepts, fallback, secret, changeable, problem }: ServerOption,
  input: string | undefined,
  record: JsonObject | undefined,
): OptionSetting {
  const stored = changeable && record ? textIn(record.value) : undefined
  const counting = stored !== undefined && problem(stored) === undefined ? stored : undefined
  const source = input !== undefined ? 'environment' : counting !== undefined ? 'setting' : 'default'
  const text = input ?? counting ?? fallback
  return {
    name,
    help,
    accepts,
    source,
    changeable,
    secret,
    value: secret ? null : text,
    default: fallback,
    stored: stored ?? null,
  }
}
