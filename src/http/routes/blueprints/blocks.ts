import { Type } from 'typebox'
import type { BlockDescription } from '../../../shared/api/blocks.ts'
import { blockDescriptionSchema } from '../../../shared/api/blocks.ts'
import type { JsonObject } from '../../../shared/json.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** The blocks that blueprints can be built of. They change only with the version of Quoin. */
export function blockCatalogueRoutes(descriptions: readonly BlockDescription[]): RouteFamily {
  const all: JsonObject[] = JSON.parse(JSON.stringify(descriptions))
  return (app) => {
    app.get(
      '/blocks',
      {
        config: { permission: 'blueprintactions_view' },
        schema: {
          operationId: 'listBlockTypes',
          summary: 'All block types, with pins and settings',
          tags: ['Blocks'],
          response: { 200: Type.Unsafe<JsonObject[]>(Type.Array(blockDescriptionSchema)) },
        },
      },
      () => all,
    )
  }
}
