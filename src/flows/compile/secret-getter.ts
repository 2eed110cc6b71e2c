import { PinError } from '../../blocks/block.ts'
import { Secret } from '../../blocks/secret.ts'
import type { Node } from './blueprint-graph.ts'
import { drawnBlock } from './expand-resources.ts'
import type { Frame } from './frame.ts'

/** What reads a pin of the type `secret`, of which the literal is the name. Decrypted only when the block asks for it. */
export function secretGetter(
  node: Node,
  pin: string,
  name: unknown,
): ((frame: Frame) => Secret) | { constant: undefined } {
  if (typeof name !== 'string') return { constant: undefined }
  const block = drawnBlock(node.block.guid)
  return ({ run }) =>
    new Secret(name, (noted) => {
      const { secrets } = run.environment
      const opened = secrets?.open(name) ?? { problem: 'names a secret, and this process has none' }
      if ('problem' in opened) throw new PinError(pin, opened.problem)
      if (noted) secrets?.used({ name, blueprint: run.blueprint, block })
      return opened.value
    })
}
