import { Type } from 'typebox'
import { stageEdits } from '../../engine/block-edits.ts'
import type { Engine } from '../../engine/engine.ts'
import { blockRecords, getRecord, recordStorages } from '../../engine/records.ts'
import { blockSchema, editsSchema } from '../../shared/api/blueprint-actions.ts'
import { guidParams } from '../../shared/api/meta.ts'
import { actorOf } from '../actor-of.ts'
import type { RouteFamily } from '../route-family.ts'

const tags = ['Blocks']

/** All blocks of one blueprint, as an editor reads and changes them. */
export function blueprintEditRoutes({ records, catalogue }: Engine): RouteFamily {
  return (app) => {
    app.get(
      '/blueprints/:guid/blocks',
      {
        config: { permission: 'blueprintactions_view' },
        schema: {
          operationId: 'listBlocksOfBlueprint',
          summary: 'All blocks of a blueprint',
          description:
            'In the order in which they were made, with what is staged. With `if-none-match` an editor sees cheaply whether somebody changed anything.',
          tags,
          params: guidParams,
          response: { 200: Type.Array(blockSchema) },
        },
      },
      async (request) => {
        const { guid } = request.params
        const session = records.storage.session()
        await getRecord(session, recordStorages.blueprints, guid, 'blueprint')
        return blockRecords(session, guid)
      },
    )

    app.post(
      '/blueprints/:guid/edits',
      {
        config: { permission: 'blueprintactions_update', errors: ['CONFLICT'] },
        schema: {
          operationId: 'stageEdits',
          summary: 'Stage several changes of blocks at once',
          description:
            'All or none, in one transaction. Each says against which state it was made; 409 when one was changed meanwhile. Gives the changed blocks.',
          tags,
          params: guidParams,
          body: editsSchema,
          response: { 200: Type.Array(blockSchema) },
        },
      },
      (request) => stageEdits(records, catalogue, request.params.guid, request.body.edits, actorOf(request)),
    )
  }
}
