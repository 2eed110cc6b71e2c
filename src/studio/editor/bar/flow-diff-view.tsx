import { Badge, Text } from '@mantine/core'
import { barTexts } from '../../texts/bar.ts'
import { countsTexts } from '../../texts/counts.ts'
import type { BlockChange } from '../model/changes/flow-diff.ts'
import classes from './flow-diff-view.module.css'

const words = { created: barTexts.new, updated: barTexts.changedLabel, removed: barTexts.gone } as const
const colors = { created: 'petrol', updated: 'sand', removed: 'red' } as const

/** What differs, block by block and pin by pin, to be read by a person. */
export function FlowDiffView({ changes }: { readonly changes: readonly BlockChange[] }) {
  const moved = changes.filter(({ drawingOnly }) => drawingOnly)
  const real = changes.filter(({ drawingOnly }) => !drawingOnly)
  return (
    <div className={classes.diff}>
      {real.map(({ guid, name, type, change, lines }) => (
        <section key={guid} className={classes.block} data-change={change}>
          <header className={classes.head}>
            <Badge size="xs" color={colors[change]}>
              {words[change]}
            </Badge>
            <b>{name}</b>
            {name === type ? null : <span className={classes.type}>{type}</span>}
          </header>
          {lines.length === 0 ? null : (
            <table className={classes.lines}>
              <tbody>
                {lines.map(({ what, before, after }) => (
                  <tr key={what}>
                    <th scope="row">{what}</th>
                    <td>
                      {before === undefined || change === 'created' ? null : <del>{before}</del>}
                      {before !== undefined && after !== undefined ? (
                        <span aria-hidden="true"> → </span>
                      ) : null}
                      {after === undefined || change === 'removed' ? null : <ins>{after}</ins>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </section>
      ))}
      {moved.length === 0 ? null : (
        <Text size="xs" c="dimmed">
          {barTexts.onlyDrawing(countsTexts.blocks(moved.length))}
        </Text>
      )}
    </div>
  )
}
