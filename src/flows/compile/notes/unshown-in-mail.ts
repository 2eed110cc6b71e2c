import type { Steps } from '../../../shared/in-turns.ts'
import type { Node } from '../blueprint-graph.ts'
import { bounded, type DeployNote } from './deploy-note.ts'

/** Blocks of pages that need a browser. A button is one of them unless it is a link. */
const interactive: ReadonlySet<string> = new Set(['state_form', 'state_input_dynamic', 'state_modal'])

/** Blocks whose part of a page leads into a mail, which cannot show it. A warning only: `state_when` may leave the part out. */
export function* unshownInMail(nodes: readonly Node[]): Steps<readonly DeployNote[]> {
  const walk = new Set(nodes.filter(({ definition }) => definition.kind === 'flow' && definition.mails))
  const notes: DeployNote[] = []
  for (const node of walk) {
    yield
    if (needsBrowser(node)) notes.push(noteOf(node))
    for (const [pin, wires] of node.wires)
      if (node.in.get(pin)?.type === 'state') for (const wire of wires) walk.add(wire.node)
  }
  return bounded(notes, 'blocks that mail cannot show')
}

function needsBrowser({ definition, literals, wires }: Node): boolean {
  if (interactive.has(definition.identifier)) return true
  return (
    definition.identifier === 'state_button' && literals.get('kind') !== 'link' && !wires.get('kind')?.length
  )
}

function noteOf({ block, definition }: Node): DeployNote {
  const message = `"${block.title || definition.title}" leads to the state of a mail, which cannot show it: the run fails when the mail has it. Link to a page instead.`
  return { block: block.guid, message, level: 'warn' }
}
