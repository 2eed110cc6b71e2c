import { Type } from 'typebox'
import { stageEdits } from '../../../flows/blueprints/block-edits.ts'
import type { Flows } from '../../../flows/flows.ts'
import { blockRecords, getRecord } from '../../../records/records.ts'
import { type BlockEdit, blockSchema, editsSchema } from '../../../shared/api/blueprints/blueprint-actions.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { callerOf, requireScope } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { actorOf } from '../search-reply.ts'

const tags = ['Blocks']

/** All blocks of one blueprint, as an editor reads and changes them. */
export function blueprintEditRoutes({ records, catalogue }: Flows): RouteFamily {
  return (app) => {
    app.get(
      '/blueprints/:guid/blocks',
      {
        config: { permission: 'blueprintactions_view' },
        schema: {
          operationId: 'listBlocksOfBlueprint',
          summary: 'All blocks of a blueprint',
          description:
            'In order of creation, with staged changes. With `if-none-match` an editor can poll for changes cheaply.',
          tags,
          params: guidParams,
          response: { 200: Type.Array(blockSchema) },
        },
      },
      async (request) => {
        const { guid } = request.params
        const session = records.database.session()
        await getRecord(session, systemStorages.blueprints, guid, 'blueprint')
        return blockRecords(session, guid)
      },
    )

    app.post(
      '/blueprints/:guid/edits',
      {
        config: { permission: 'blueprintactions_update', bodyBytes: 'setting', errors: ['CONFLICT'] },
        schema: {
          operationId: 'stageEdits',
          summary: 'Stage several changes of blocks at once',
          description:
            'All or none, in one transaction. New blocks also require the scope `blueprintactions_create`, removed ones `blueprintactions_remove`. Each edit names the state it is based on; 409 if a block has changed since. Replies with the changed blocks.',
          tags,
          params: guidParams,
          body: editsSchema,
          response: { 200: Type.Array(blockSchema) },
        },
      },
      async (request) => {
        const { edits } = request.body
        const caller = callerOf(request)
        if (edits.some(isNew)) requireScope(caller, 'blueprintactions_create')
        if (edits.some(({ content }) => content === null)) requireScope(caller, 'blueprintactions_remove')
        return stageEdits(records, catalogue, request.params.guid, edits, actorOf(request))
      },
    )
  }
}

/** One that says so of a block that is there is refused when it is staged. */
function isNew({ update_hash: hash, content }: BlockEdit): boolean {
  return hash === null && content !== null
}
