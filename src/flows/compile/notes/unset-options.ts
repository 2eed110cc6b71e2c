import type { Steps } from '../../../shared/in-turns.ts'
import type { Node } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import { bounded, type DeployNote } from './deploy-note.ts'

/** Blocks whose mails would wait in the queue and fail, where the cluster has no mail server. */
export function unsentMails(nodes: readonly Node[]): readonly DeployNote[] {
  const senders = nodes.filter(({ definition }) => definition.kind === 'flow' && definition.mails)
  const message =
    'QUOIN_MAIL_URL is not set: mails of this block wait in the queue _mail and fail until every node has it.'
  const notes = senders.map(({ block }): DeployNote => ({ block: block.guid, message, level: 'warn' }))
  return bounded(notes, 'mails that cannot be sent')
}

/** Blocks that fail because one of their addresses is read, where the cluster has no address of its own. */
export function* unsetPublicUrl(nodes: readonly Node[], facts: Facts): Steps<readonly DeployNote[]> {
  const notes: DeployNote[] = []
  for (const node of nodes) {
    yield
    if (node.definition.kind !== 'flow') continue
    const pin = node.definition.publicAddresses?.find(facts.wired(node))
    if (pin === undefined) continue
    const message = `QUOIN_PUBLIC_URL is not set: this block fails, because ${pin} is the address of the site. Set it on every node.`
    notes.push({ block: node.block.guid, pin, message, level: 'warn' })
  }
  return bounded(notes, 'blocks that need the address of the site')
}
