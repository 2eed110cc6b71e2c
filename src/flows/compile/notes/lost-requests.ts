import { isSecretName } from '../../../shared/names/secret-names.ts'
import { requestFields } from '../../../shared/request-field.ts'
import type { Node } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import { isReply } from '../derive-replies.ts'
import { blocksFrom, reachableBlocks } from '../reachable-blocks.ts'
import type { DeployNote } from './deploy-note.ts'

/**
 * Endpoints that go on working behind their reply and take a password or token: when such a run fails, its request cannot be sent again,
 * because values of these names are not stored (`background/request-letters.ts`).
 */
export function lostRequests(nodes: readonly Node[], facts: Facts): DeployNote[] {
  return nodes.flatMap((node): DeployNote[] => {
    const { block, definition, settings } = node
    if (definition.kind !== 'trigger' || definition.on !== 'http') return []
    const secret = requestFields(settings.schema).find(({ name }) => isCredentialName(name))
    if (secret === undefined || !worksBehindReply(node, facts)) return []
    const message = `The flow does work after its reply. When that fails, the request cannot be sent again, because ${secret.name} is not stored. Put the work into a queue before the reply (function_custom_execute_from_queue).`
    return [{ block: block.guid, pin: 'schema', message, level: 'warn' }]
  })
}

/** A signature opens nothing but its own request, and is stored. */
function isCredentialName(name: string): boolean {
  return isSecretName(name) && !/signature/i.test(name)
}

function worksBehindReply(trigger: Node, facts: Facts): boolean {
  return reachableBlocks(trigger, facts)
    .filter(isReply)
    .flatMap((reply) => blocksFrom(behind(reply, facts), facts))
    .some(({ definition }) => definition.kind === 'flow' && !isPure(definition.identifier))
}

function behind(node: Node, facts: Facts): readonly Node[] {
  return [...node.out].flatMap(([pin, { type }]) => (type === 'flow' ? facts.behind(node, pin) : []))
}

/** What fails nothing that a client would have to ask for again. */
function isPure(identifier: string): boolean {
  return identifier === 'function_console_log' || identifier === 'branch' || identifier === 'switch'
}
