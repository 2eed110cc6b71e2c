import type { BlockDefinition } from '../../blocks/block.ts'
import type { BlockContent, SavedInPin } from '../../shared/blueprint.ts'
import { invalidField } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { nearestName } from '../../shared/names/nearest-name.ts'

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
