import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { barTexts } from '../../texts/bar.ts'
import type { BlockChange, Line } from '../model/changes/flow-diff.ts'
import { type ShownText, shownAlone, shownDifference } from '../model/changes/shown-difference.ts'
import classes from './flow-diff-view.module.css'

interface DiffLineProps {
  readonly line: Line
  readonly block: string
  readonly change: BlockChange['change']
}

/** One difference: cut around where it begins, with the whole values one click away. */
export function DiffLine({ line: { what, before, after }, block, change }: DiffLineProps) {
  const [isWhole, setWhole] = useState(false)
  const isPair = before !== undefined && after !== undefined
  const [was, is] = isPair
    ? shownDifference(before, after)
    : [
        before === undefined ? undefined : shownAlone(before),
        after === undefined ? undefined : shownAlone(after),
      ]
  const isCut = was?.isCut === true || is?.isCut === true
  return (
    <tr>
      <th scope="row">{what}</th>
      <td>
        {isWhole ? (
          <Whole before={before} after={after} />
        ) : (
          <>
            {was && change !== 'created' ? (
              <del>
                <Shown text={was} isPair={isPair} />
              </del>
            ) : null}
            {isPair ? <span aria-hidden="true"> → </span> : null}
            {is && change !== 'removed' ? (
              <ins>
                <Shown text={is} isPair={isPair} />
              </ins>
            ) : null}
          </>
        )}
        {isCut ? (
          <UnstyledButton
            className={classes.whole}
            aria-expanded={isWhole}
            aria-label={barTexts.wholeValueOf(what, block)}
            onClick={() => setWhole(!isWhole)}
          >
            {isWhole ? barTexts.shorter : barTexts.wholeValue}
          </UnstyledButton>
        ) : null}
      </td>
    </tr>
  )
}

function Shown({
  text: { lead, differs, tail },
  isPair,
}: {
  readonly text: ShownText
  readonly isPair: boolean
}) {
  return (
    <>
      {lead}
      {isPair ? <b>{differs}</b> : differs}
      {tail}
    </>
  )
}

function Whole({ before, after }: Pick<Line, 'before' | 'after'>) {
  return (
    <div className={classes.values}>
      {before === undefined ? null : (
        <div>
          <span className={classes.type}>{barTexts.before}</span>
          <del>{before}</del>
        </div>
      )}
      {after === undefined ? null : (
        <div>
          <span className={classes.type}>{barTexts.after}</span>
          <ins>{after}</ins>
        </div>
      )}
    </div>
  )
}
