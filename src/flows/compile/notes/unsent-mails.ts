import type { Node } from '../blueprint-graph.ts'
import { bounded, type DeployNote } from './deploy-note.ts'

/** Blocks whose mails would wait in the queue and fail, where the cluster has no mail server. */
export function unsentMails(nodes: readonly Node[]): readonly DeployNote[] {
  const senders = nodes.filter(({ definition }) => definition.kind === 'flow' && definition.mails)
  const message =
    'QUOIN_MAIL_URL is not set: mails of this block wait in the queue _mail and fail until every node has it.'
  const notes = senders.map(({ block }): DeployNote => ({ block: block.guid, message, level: 'warn' }))
  return bounded(notes, 'mails that cannot be sent')
}
