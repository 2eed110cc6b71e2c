import type { BlockDefinition } from '../../blocks/block.ts'
import type { BlockUses } from '../../shared/api/blocks/blocks.ts'
import type { BlockContent, SavedInPin } from '../../shared/blueprint.ts'
import { type Clock, hasPassed } from '../../shared/clock.ts'
import { invalidField } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'
import type { Database } from '../../storage/database.ts'
import { objectsIn, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'

/** Types beyond these are of no help to a person who chooses one. */
const MOST_TYPES = 50
/** Milliseconds. Counting reads the index of all blocks, and the order of what is used most changes slowly. */
const MAX_AGE_MS = 60_000

/** The block types that the blueprints use most, the most used first. Counted at most once a minute, however many ask. */
export function openBlockUses(database: Database, clock: Clock): () => Promise<BlockUses> {
  let counted: Promise<BlockUses> | undefined
  let since = 0
  return () => {
    if (counted && !hasPassed(MAX_AGE_MS, since, clock())) return counted
    since = clock()
    const counting = countUses(database)
    counted = counting
    counting.catch(() => {
      if (counted === counting) counted = undefined
    })
    return counting
  }
}

async function countUses(database: Database): Promise<BlockUses> {
  const { rows } = await database.session().aggregate(systemStorages.blocks, {
    query: { kind: 'all' },
    groups: [{ field: 'type', as: 'type' }],
    values: [{ figure: 'count', as: 'count' }],
    order: [{ name: 'count', order: 'desc' }],
    limit: MOST_TYPES,
  })
  return objectsIn(rows.value).map(({ type, count }) => ({ type: textIn(type), count: Number(count) }))
}

type ConfiguredBlock = Partial<BlockContent> & { readonly type: string }

/**
 * `configuration`, as clients of the product behind the contract create a block: each key is a setting of the block, or
 * one of its in-pins, which then holds the value. Gives the block as we save it. Throws INVALID_BODY, naming the key, for one
 * that is neither.
 */
export function withConfiguration<T extends ConfiguredBlock>(
  input: T & { readonly configuration?: JsonObject },
  catalogue: ReadonlyMap<string, BlockDefinition>,
): T {
  const { configuration, ...rest } = input
  // Without the field the input is what it was; TypeScript cannot see that of a generic type.
  if (configuration === undefined) return input
  const definition = catalogue.get(input.type)
  const fields: Record<string, JsonValue> = { ...rest.fields }
  const pins: SavedInPin[] = [...(rest.in_pins ?? [])]
  for (const [name, value] of Object.entries(configuration)) {
    if (definition && Object.hasOwn(definition.settings, name)) fields[name] = value
    else if (definition && Object.hasOwn(definition.in, name)) pins.push({ id: name, value })
    else
      throw invalidField(
        'configuration',
        `configuration.${name} is neither a setting nor an in-pin of the block ${input.type}.${meant(name, definition)} GET /blocks lists them.`,
      )
  }
  return { ...input, configuration: undefined, fields, in_pins: pins }
}

function meant(name: string, definition: BlockDefinition | undefined): string {
  const names = [...Object.keys(definition?.settings ?? {}), ...Object.keys(definition?.in ?? {})]
  const near = nearestName(name, names)
  return near === undefined ? '' : ` Did you mean ${near}?`
}
