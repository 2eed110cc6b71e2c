import type { BlockContent } from './blueprint.ts'

/**
 * A block's content where nothing was said. Not beside the schemas: the studio needs it, and with them it would load a
 * library of 17 KiB that it has no use for.
 */
export const emptyContent: Omit<BlockContent, 'type'> = {
  title: '',
  description: '',
  position: { x: 0, y: 0 },
  in_pins: [],
  custom_out_pins: [],
  fields: {},
  scopes: [],
}
