import { invalidField } from '../../shared/errors.ts'
import { blockNames, type Named } from '../../shared/names/block-name.ts'

/** The name of each block by its guid, made where none is given. INVALID_BODY when two blocks were given the same one. */
export function settledNames(blocks: readonly Named[]): ReadonlyMap<string, string> {
  const names = blockNames(blocks)
  const twice = blocks.find(({ guid, name }) => name !== undefined && names.get(guid) !== name)
  if (twice?.name === undefined) return names
  const message = `Another block of the blueprint is named ${twice.name}: choose another name, such as ${names.get(twice.guid)}.`
  throw invalidField('name', message)
}
