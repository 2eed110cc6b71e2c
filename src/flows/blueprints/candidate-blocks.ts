import { blockRecords, type RecordContext, savedBlocks } from '../../records/records.ts'
import type { Block } from '../../shared/blueprint.ts'
import { pauses } from '../../shared/in-turns.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { changeOf, stagedContent } from './staged-content.ts'

/** The blocks as they are saved, or as they would be if everything staged were. */
export async function candidateBlocks(
  context: RecordContext,
  blueprint: string,
  state: 'saved' | 'staged',
): Promise<Block[]> {
  const session = context.database.session()
  if (state === 'saved') return savedBlocks(context, session, blueprint)
  const pause = pauses()
  const blocks: Block[] = []
  for (const record of await blockRecords(session, blueprint, pause)) {
    if (changeOf(record) !== 'removed')
      blocks.push({ guid: guidOf(record), ...stagedContent(context, record) })
    await pause()
  }
  return blocks
}
