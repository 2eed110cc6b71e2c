import type { BlockDescription } from '../shared/api/blocks/blocks.ts'
import type { BlockDefinition } from './block.ts'
import { effectsOf } from './effects.ts'
import type { InPin, OutPin } from './pin.ts'
import { readSettings } from './pins/read-settings.ts'

export function describeBlock(definition: BlockDefinition, group: string): BlockDescription {
  return {
    identifier: definition.identifier,
    aliases: definition.aliases ?? [],
    group,
    kind: definition.kind,
    on: definition.kind === 'trigger' ? definition.on : null,
    title: definition.title,
    ...(definition.words !== undefined && { words: definition.words }),
    summary: definition.summary,
    in: definition.in,
    out: definition.out,
    settings: definition.settings,
    ...(effectsOf(definition).calls && { outside: true }),
    ...(definition.kind === 'flow' && definition.body !== undefined && { body: definition.body }),
    ...(definition.kind === 'flow' && definition.waits !== undefined && { waits: true }),
    more_in: definition.moreIn !== undefined,
    more_out: definition.moreOut !== undefined,
    adds: addedPins(definition),
  }
}

/** A name that no block has a pin of. */
const PROBE = 'probe_of_the_description'

/** Found out by asking the definition what one name would add: a list of its own could be forgotten. */
function addedPins(definition: BlockDefinition): BlockDescription['adds'] {
  const added = { in: {} as Record<string, InPin>, out: {} as Record<string, OutPin> }
  for (const [setting, { kind }] of Object.entries(definition.settings)) {
    if (kind !== 'names' && kind !== 'fields') continue
    const one = kind === 'names' ? PROBE : { name: PROBE, type: 'any' }
    const { values } = readSettings(definition.settings, { [setting]: [one] })
    const into = definition.moreIn?.(values)[PROBE]
    const out = definition.moreOut?.(values, [])[PROBE]
    if (into) added.in[setting] = { ...into, help: into.help.replaceAll(PROBE, '…') }
    if (out) added.out[setting] = { ...out, help: out.help.replaceAll(PROBE, '…') }
  }
  const { values } = readSettings(definition.settings, {})
  const custom = definition.moreOut?.(values, [{ id: PROBE, type: 'number' }])
  return { ...added, custom_out: custom?.[PROBE] !== undefined }
}
