import { Text } from '@mantine/core'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { outlineTexts } from '../../texts/editor.ts'
import { problemsOf } from '../model/fresh-blocks.ts'
import { type OutlineItem, outlineOf, shownItems } from '../model/outline.ts'
import { useShownRun } from '../runs/run-queries.ts'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import { showSettings } from '../state/editor-commands.ts'
import { useChecks, useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './outline.module.css'
import { OutlineRow } from './outline-row.tsx'
import { useOutlineKeys } from './use-outline-keys.ts'

/**
 * The blueprint as a tree to read and to write without a mouse. One row has the keyboard; the others are reached with the
 * arrows, as the pattern for trees of WAI-ARIA has it.
 */
export function OutlineView() {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const checked = useChecks()
  const known = useEditorState((state) => state.known)
  const selection = useEditorState((state) => state.selection)
  const { shown, run, at, view } = useShownRun()
  const breakpoints = useBreakpoints()
  const items = useMemo(() => outlineOf(flow, catalogue), [flow, catalogue])
  const [flipped, setFlipped] = useState<ReadonlySet<string>>(new Set())
  const open = useMemo(() => openItems(items, flipped, flow.size), [items, flipped, flow.size])
  const rows = useMemo(() => shownItems(items, open), [items, open])
  const toggle = useCallback(
    (id: string) =>
      setFlipped((now) =>
        now.has(id) ? new Set([...now].filter((one) => one !== id)) : new Set([...now, id]),
      ),
    [],
  )
  const { current, tree, onKeyDown, go } = useOutlineKeys({ rows, open, toggle })
  const step = run && at !== undefined ? run.steps[at]?.block : undefined
  useEffect(() => {
    if (step === undefined) return
    const row = tree.current?.querySelector('[data-current]')
    row?.scrollIntoView({ block: 'nearest' })
  }, [step, tree])
  return (
    <div className={classes.outline}>
      <p className={classes.hint} id="outline-hint" data-covered={shown !== undefined || undefined}>
        {outlineTexts.arrowKeys} <b>A</b> {outlineTexts.addsStepAfter} <b>W</b> {outlineTexts.wiresAPin}{' '}
        <b>{outlineTexts.altArrows}</b> {outlineTexts.movesAStep}
        <b> {outlineTexts.b}</b> {outlineTexts.setsABreakpoint} <b>{outlineTexts.del}</b>{' '}
        {outlineTexts.removes}
      </p>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed" p="md">
          {outlineTexts.noBlocks}
        </Text>
      ) : null}
      <div
        ref={tree}
        role="tree"
        aria-label={outlineTexts.outlineName}
        aria-describedby="outline-hint"
        aria-multiselectable={false}
        className={classes.tree}
        onKeyDown={onKeyDown}
      >
        {rows.map(({ item, level, at, of }) => (
          <OutlineRow
            key={item.id}
            item={item}
            level={level}
            at={at}
            of={of}
            open={item.children.length > 0 ? open.has(item.id) : undefined}
            current={item.id === current}
            selected={item.kind === 'block' && selection.has(item.block)}
            problem={
              item.kind === 'block' || item.kind === 'pin'
                ? problemsOf(checked, item.block)
                    .filter(
                      ({ pin, level }) => level !== 'needed' && (item.kind === 'block' || pin === item.pin),
                    )
                    .map(({ message }) => message)
                    .join(' ')
                : ''
            }
            staging={item.kind === 'block' ? (known.get(item.block)?.staging ?? null) : null}
            trace={view?.blocks.get(item.block)}
            breakpoint={breakpoints.at.has(item.block) ? (breakpoints.hold ? 'holds' : 'waits') : undefined}
            content={flow.get(item.block)}
            catalogue={catalogue}
            onGo={() => {
              go(item.id)
              if (item.block !== '') showSettings(editor, [item.block])
            }}
            onEdit={() => item.block !== '' && editor.focusPin(item.block, item.pin)}
            onToggle={() => toggle(item.id)}
          />
        ))}
      </div>
    </div>
  )
}

/** With more blocks than this the pins of steps are closed until they are opened: thousands of rows are of no use. */
const MOST_OPEN = 60

function openItems(
  items: readonly OutlineItem[],
  flipped: ReadonlySet<string>,
  blocks: number,
): ReadonlySet<string> {
  const open = new Set<string>()
  const visit = (list: readonly OutlineItem[], depth: number) => {
    for (const item of list) {
      const isOpen =
        item.kind !== 'more' &&
        (blocks <= MOST_OPEN || item.kind === 'branch' || (depth === 0 && item.kind !== 'pin'))
      if (isOpen !== flipped.has(item.id)) open.add(item.id)
      visit(item.children, depth + 1)
    }
  }
  visit(items, 0)
  return open
}
