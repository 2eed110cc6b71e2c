import type { Steps } from '../../../shared/cooperative.ts'
import { isSecretName } from '../../../shared/names/secret-names.ts'
import { requestFields } from '../../../shared/request-field.ts'
import type { Node, Wire } from '../blueprint-graph.ts'
import type { Facts } from '../constants/fold-constants.ts'
import { isReply } from '../derive-replies.ts'
import { blocksFrom, reachableBlocks } from '../reachable-blocks.ts'
import { valuesRead } from '../waiting/values-read.ts'
import { laterBlocks, laterWays } from '../waiting/wait-problems.ts'
import type { DeployNote } from './deploy-note.ts'

/** Blocks behind a wait that need the request, which has been answered by then, and approvals that no one could give. */
export function* waitingRequests(nodes: readonly Node[], facts: Facts): Steps<DeployNote[]> {
  const notes: DeployNote[] = []
  const replies = atOnce(nodes, facts)
  for (const wait of nodes) {
    if (laterWays(wait).length === 0) continue
    yield
    if (wait.block.type === 'wait_for_approval' && !mayBeDecided(wait, facts)) notes.push(undecidable(wait))
    const later = laterBlocks(wait, facts)
    for (const node of later)
      if (isReply(node) && !replies.has(node)) notes.push(noteOf(node, 'replies', 'Reply before the wait.'))
    const { wires, names } = valuesRead(later, facts)
    if (wires.some(readsRequest))
      notes.push(noteOf(wait, 'reads the request', 'Read what is needed of it before the wait.'))
    if (names.has('headers') || names.has('request'))
      notes.push(
        noteOf(wait, 'reads headers or request', 'They are nothing there. Set a value before the wait.'),
      )
  }
  return notes
}

function mayBeDecided(wait: Node, facts: Pick<Facts, 'wired'>): boolean {
  const scopes = wait.literals.get('scopes')
  const names = wait.wires.has('scopes') || (Array.isArray(scopes) ? scopes.length > 0 : scopes !== undefined)
  const wired = facts.wired(wait)
  return names || wired('link') || wired('link_url')
}

function undecidable({ block }: Node): DeployNote {
  const message =
    'No one could decide: this block fails. Name a scope, such as *loggedin, in scopes, or send its link.'
  return { block: block.guid, pin: 'scopes', message, level: 'warn' }
}

/** The blocks that a request reaches without a wait: a reply among them is of use, though a run that waited passes it too. */
function atOnce(nodes: readonly Node[], facts: Pick<Facts, 'behind'>): ReadonlySet<Node> {
  const found = new Set(
    nodes.flatMap((node) => (node.definition.kind === 'trigger' ? facts.behind(node, 'flow') : [])),
  )
  for (const node of found) {
    const later = laterWays(node)
    for (const [pin, { type }] of node.out)
      if (type === 'flow' && !later.includes(pin)) for (const next of facts.behind(node, pin)) found.add(next)
  }
  return found
}

function readsRequest({ node: { definition, out }, pin }: Wire): boolean {
  return (
    out.get(pin)?.type === 'connection' || (definition.kind === 'value' && definition.fromRequest === true)
  )
}

function noteOf({ block }: Node, does: string, advice: string): DeployNote {
  return {
    block: block.guid,
    message: `A block behind a wait ${does}, and the run has no request there. ${advice}`,
    level: 'warn',
  }
}

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
