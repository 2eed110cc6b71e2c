import { Type } from 'typebox'
import { openBlockUses } from '../../../flows/blueprints/block-uses.ts'
import { functionUses } from '../../../flows/blueprints/function-uses.ts'
import type { Flows } from '../../../flows/flows.ts'
import type { Samples } from '../../../flows/samples/samples.ts'
import {
  type BlockDescription,
  blockDescriptionSchema,
  blockParams,
  blockSearchSchema,
  blockTimesSchema,
  blockUsesSchema,
  foundBlocksSchema,
  functionParams,
  functionUsesSchema,
} from '../../../shared/api/blocks/blocks.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'

/** The blocks that blueprints can be built of. They change with the version of Quoin, and with extensions. */
export function blockCatalogueRoutes(
  descriptions: () => readonly BlockDescription[],
  { records, catalogue }: Flows,
): RouteFamily {
  // Made when it is asked for: most processes never are, and it is 4 ms of their start and 1 MB.
  let made: { readonly of: readonly BlockDescription[]; readonly all: JsonObject[] } | undefined
  const all = () => {
    const present = descriptions()
    if (made?.of !== present) made = { of: present, all: JSON.parse(JSON.stringify(present)) }
    return made.all
  }
  return (app) => {
    findRoutes(app, descriptions, all)
    usesRoutes(app, records, catalogue)
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
      all,
    )
  }
}

/** Which blocks blueprints have, and where functions are called. */
function usesRoutes(app: App, records: Flows['records'], catalogue: Flows['catalogue']) {
  const uses = openBlockUses(records.database, records.clock)
  app.get(
    '/blocks/uses',
    {
      config: { permission: 'blueprintactions_view' },
      schema: {
        operationId: 'listBlockUses',
        summary: 'The block types that are used most',
        description:
          'How many blocks of all blueprints have each type, at most 50 types, the most used first. Up to a minute old.',
        tags: ['Blocks'],
        response: { 200: blockUsesSchema },
      },
    },
    async () => [...(await uses())],
  )

  app.get(
    '/blocks/functions/:name',
    {
      config: { permission: 'blueprints_view', alsoNeeds: ['blueprintactions_view'] },
      schema: {
        operationId: 'getFunctionUses',
        summary: 'Where a custom function is, and what calls it',
        description:
          'In all blueprints, as they are staged. At most 200 places, among the 10,000 newest calls and functions. Names that an expression works out in the run are not found.',
        tags: ['Blocks'],
        params: functionParams,
        response: { 200: functionUsesSchema },
      },
    },
    ({ params }) => functionUses(records, catalogue, params.name),
  )
}

/** A few blocks of the hundreds: what an agent asks for at each step. */
function findRoutes(
  app: App,
  descriptions: () => readonly BlockDescription[],
  all: () => readonly JsonObject[],
) {
  app.post(
    '/blocks/search',
    {
      config: { permission: 'blueprintactions_view' },
      schema: {
        operationId: 'searchBlockTypes',
        summary: 'Find block types by words',
        tags: ['Blocks'],
        body: blockSearchSchema,
        response: { 200: foundBlocksSchema },
      },
    },
    ({ body: { query = '', limit = 20 } }) => {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean)
      const found = descriptions().filter(({ identifier, title, summary }) => {
        const about = `${identifier} ${title} ${summary}`.toLowerCase()
        return words.every((word) => about.includes(word))
      })
      const blocks = found
        .slice(0, limit)
        .map(({ identifier, title, summary }) => ({ identifier, title, summary }))
      return { found: found.length, blocks }
    },
  )

  app.get(
    '/blocks/:identifier',
    {
      config: { permission: 'blueprintactions_view' },
      schema: {
        operationId: 'getBlockType',
        summary: 'One block type, with pins and settings',
        tags: ['Blocks'],
        params: blockParams,
        response: { 200: Type.Unsafe<JsonObject>(blockDescriptionSchema) },
      },
    },
    ({ params: { identifier } }) => {
      const block = all().find((one) => one.identifier === identifier)
      if (block) return block
      throw new QuoinError('NOT_FOUND', 'There is no such block. Search blocks by words.')
    },
  )
}

/** How often and how long blocks run. */
export function blockTimeRoutes(samples: Pick<Samples, 'read'>): RouteFamily {
  return (app) => {
    app.get(
      '/blueprints/:guid/block-times',
      {
        config: { permission: 'blueprints_view', alsoNeeds: ['blueprintactions_view'], entityTag: false },
        schema: {
          operationId: 'getBlockTimes',
          summary: 'Times of the blocks of a blueprint',
          description:
            'From sampled runs of the deployed version: the first run of each trigger in a second, on each node. Only times are kept, no values. Runs of other nodes are at most ten seconds late.',
          tags: ['Runs'],
          params: guidParams,
          response: { 200: blockTimesSchema },
        },
      },
      (request) => samples.read(request.params.guid),
    )
  }
}
