import { Badge, Button, Text, TextInput, UnstyledButton } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import { type ShownText, shownAlone, shownDifference } from '../../../shared/value-differences.ts'
import { barTexts } from '../../texts/bar.ts'
import { countsTexts } from '../../texts/editor.ts'
import { type BlockChange, changesWith, type Line } from '../model/changes/flow-diff.ts'
import classes from './flow-diff-view.module.css'

const words = { created: barTexts.new, updated: barTexts.changedLabel, removed: barTexts.gone } as const
const colors = { created: 'petrol', updated: 'sand', removed: 'red' } as const

/** A page of a long diff: 500 blocks at once take a second to draw. */
const BLOCKS = 50
const LINES = 20
/** From so many blocks on there is a field to find one. */
const FIND_FROM = 12

/** What differs, block by block and pin by pin, to be read by a person. */
export function FlowDiffView({ changes }: { readonly changes: readonly BlockChange[] }) {
  const [text, setText] = useState('')
  const found = changesWith(changes, text)
  const real = found.filter(({ drawingOnly }) => !drawingOnly)
  const drawn = found.filter(({ drawingOnly }) => drawingOnly)
  const count = (kind: BlockChange['change']) => real.filter(({ change }) => change === kind).length
  return (
    <div className={classes.diff}>
      {changes.length < FIND_FROM ? null : (
        <TextInput
          size="xs"
          label={barTexts.findChange}
          placeholder={barTexts.findChangeHint}
          description={
            found.length === 0
              ? barTexts.noSuchChange
              : barTexts.changeCounts(count('created'), count('updated'), count('removed'))
          }
          inputWrapperOrder={['label', 'input', 'description']}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      <Paged all={real} page={BLOCKS} draw={(one) => <Block key={one.guid} change={one} />} />
      {drawn.length === 0 ? null : (
        <details className={classes.drawn}>
          <summary>{barTexts.onlyDrawing(countsTexts.blocks(drawn.length))}</summary>
          <Paged all={drawn} page={BLOCKS} draw={(one) => <Block key={one.guid} change={one} />} />
        </details>
      )}
    </div>
  )
}

function Block({ change: { name, type, change, lines } }: { readonly change: BlockChange }) {
  const heading = useId()
  return (
    <section className={classes.block} data-change={change} aria-labelledby={heading}>
      <header className={classes.head}>
        <Badge size="xs" color={colors[change]}>
          {words[change]}
        </Badge>
        <b id={heading}>{name}</b>
        {name === type ? null : <span className={classes.type}>{type}</span>}
      </header>
      {lines.length === 0 ? null : (
        <Paged
          all={lines}
          page={LINES}
          draw={(line, at) => <DiffLine key={at} line={line} block={name} change={change} />}
          around={(rows) => (
            <table className={classes.lines}>
              <tbody>{rows}</tbody>
            </table>
          )}
        />
      )}
    </section>
  )
}

interface PagedProps<T> {
  readonly all: readonly T[]
  readonly page: number
  readonly draw: (one: T, at: number) => ReactNode
  readonly around?: (drawn: ReactNode) => ReactNode
}

/** The first ones, and a button for more. */
function Paged<T>({ all, page, draw, around = (drawn) => drawn }: PagedProps<T>) {
  const [shown, setShown] = useState(page)
  const rest = all.length - shown
  return (
    <>
      {around(all.slice(0, shown).map(draw))}
      {rest <= 0 ? null : (
        <Button
          size="compact-xs"
          variant="subtle"
          style={{ alignSelf: 'flex-start' }}
          onClick={() => setShown(shown + page)}
        >
          <Text size="xs">{barTexts.moreChanges(Math.min(page, rest))}</Text>
        </Button>
      )}
    </>
  )
}

interface DiffLineProps {
  readonly line: Line
  readonly block: string
  readonly change: BlockChange['change']
}

/** One difference: cut around where it begins, with the whole values one click away. */
function DiffLine({ line: { what, before, after }, block, change }: DiffLineProps) {
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
            aria-label={(isWhole ? barTexts.shorterOf : barTexts.wholeValueOf)(what, block)}
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
