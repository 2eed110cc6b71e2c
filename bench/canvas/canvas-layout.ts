/** Prints how readable the automatic layout draws six blueprints: `npm run bench:canvas`. The table is in docs/canvas.md. */
import { canvasBlueprints } from './blueprints.ts'
import { figuresOf } from './layout-figures.ts'

const head = [
  'Blueprint',
  'Blocks',
  'Wires',
  'Overlaps',
  'Crossings',
  'Wires behind blocks',
  'Length of wires',
]
const lines = (await canvasBlueprints()).map((file) => {
  const { blocks, wires, overlaps, crossings, hidden, length } = figuresOf(file)
  return [file.name, blocks, wires, overlaps, crossings, hidden, `${length.toLocaleString('en-US')} px`]
})
for (const line of [head, head.map(() => '---'), ...lines]) console.log(`| ${line.join(' | ')} |`)
