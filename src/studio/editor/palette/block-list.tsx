import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import {
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { BlockDescription, BlockUses } from '../../../shared/api/blocks/blocks.ts'
import { call } from '../../api/request.ts'
import { groupTitle } from '../../controls/block-groups.ts'
import { Icon } from '../../controls/icon.tsx'
import { paletteTexts } from '../../texts/editor.ts'
import { BLOCK_TYPE } from '../canvas/use-palette-drop.ts'
import { type PaletteGroup, searchPalette } from '../model/palette-search.ts'
import { PinMark } from '../pins/pin-mark.tsx'
import classes from './block-list.module.css'
import { OPERATIONS, useFoundOperations } from './found-operations.ts'
import { FITS_NEXT, MOST_USED, withFirst, withMostUsed } from './most-used.ts'

const useBlockUsesNone: BlockUses = []

/** Which block types this cluster uses most; nothing while it is not known. */
function useBlockUses(): BlockUses {
  const { data } = useQuery({
    queryKey: ['block-uses'],
    queryFn: ({ signal }) => call<BlockUses>('GET', '/blocks/uses', { signal }),
    // While the editor is open the list keeps its order: what is looked for stays where it was.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  })
  return data ?? useBlockUsesNone
}

interface BlockListProps {
  readonly blocks: readonly BlockDescription[]
  readonly onChoose: (block: BlockDescription) => void
  /** Blocks are in an order that says something: no groups until something is searched for. */
  readonly ordered?: boolean
  /** What stands beside a block, such as the pin that a wire would go to. */
  readonly note?: (block: BlockDescription) => string
  readonly focus?: boolean
  /** Stand above all others until something is searched for. */
  readonly first?: readonly BlockDescription[]
  /** Stands beside the search field. */
  readonly beside?: ReactNode
  /** Blocks can be dragged onto the canvas. */
  readonly draggable?: boolean
}

/** A search field over a list of blocks; arrows choose while one types, Enter takes. */
export function BlockList(props: BlockListProps) {
  const { blocks, onChoose, ordered, note, focus, beside, draggable, first = none } = props
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const groups = useFoundGroups(blocks, text, ordered === true, first)
  const shown = useMemo(() => groups.flatMap((one) => one.blocks), [groups])
  const at = Math.min(chosen, shown.length - 1)
  const current = shown[at]

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is chosen is read from the page
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [at, text])

  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key]
    if (step !== undefined && shown.length > 0) setChosen((at + step + shown.length) % shown.length)
    else if (event.key === 'Enter' && current) onChoose(current)
    else return
    event.preventDefault()
  }

  return (
    <div className={classes.whole}>
      <div className={classes.search}>
        <TextInput
          className={classes.field}
          size="xs"
          placeholder={paletteTexts.searchExample}
          aria-label={paletteTexts.searchBlocks}
          role="combobox"
          aria-expanded={shown.length > 0}
          aria-controls={id}
          aria-activedescendant={current ? optionId(id, current) : undefined}
          leftSection={<Icon name="search" size={14} />}
          value={text}
          data-autofocus={focus || undefined}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setChosen(0)
          }}
          onKeyDown={onKeyDown}
        />
        {beside}
      </div>
      <FoundBlocks
        ref={list}
        groups={groups}
        listId={id}
        current={current}
        note={note}
        onChoose={onChoose}
        draggable={draggable ?? false}
      />
    </div>
  )
}

const none: readonly BlockDescription[] = []

function useFoundGroups(
  blocks: readonly BlockDescription[],
  text: string,
  ordered: boolean,
  first: readonly BlockDescription[],
) {
  const found = useMemo(() => searchPalette(blocks, text), [blocks, text])
  const uses = useBlockUses()
  const flat = ordered || text !== ''
  const operations = useFoundOperations(blocks, text)
  return useMemo(() => {
    if (text === '') return withFirst(first, found, (rest) => groupsOf(flat, rest, uses))
    const groups = groupsOf(flat, found, uses)
    return operations.length === 0 ? groups : [...groups, { group: OPERATIONS, blocks: operations }]
  }, [text, flat, found, first, uses, operations])
}

function groupsOf(isFlat: boolean, blocks: readonly BlockDescription[], uses: BlockUses): PaletteGroup[] {
  return isFlat ? [{ group: '', blocks }] : withMostUsed(blocks, uses)
}

function titleOf(group: string): string {
  if (group === FITS_NEXT) return paletteTexts.fitsNext
  if (group === OPERATIONS) return paletteTexts.operations
  return group === MOST_USED ? paletteTexts.usedMost : groupTitle(group)
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }

function optionId(listId: string, { identifier }: BlockDescription): string {
  return `${listId}-${identifier}`
}

interface ShownProps extends Pick<BlockOptionProps, 'onChoose' | 'draggable'> {
  readonly listId: string
  readonly current: BlockDescription | undefined
  readonly note: BlockListProps['note']
}

interface FoundBlocksProps extends ShownProps {
  readonly ref: Ref<HTMLDivElement>
  readonly groups: readonly PaletteGroup[]
}

function FoundBlocks({ ref, groups, ...props }: FoundBlocksProps) {
  const isEmpty = groups.every(({ blocks }) => blocks.length === 0)
  return (
    <>
      {isEmpty ? <p className={classes.none}>{paletteTexts.noBlockFits}</p> : null}
      <div
        className={classes.list}
        ref={ref}
        id={props.listId}
        role="listbox"
        aria-label={paletteTexts.blocks}
        tabIndex={-1}
        // A list without options is none for a screen reader.
        hidden={isEmpty}
      >
        {groups.map((one) => (
          <BlockGroup key={one.group} group={one} {...props} />
        ))}
      </div>
    </>
  )
}

interface BlockGroupProps extends ShownProps {
  readonly group: PaletteGroup
}

function BlockGroup({
  group: { group, blocks },
  listId,
  current,
  note,
  onChoose,
  draggable,
}: BlockGroupProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div role="group" aria-label={group === '' ? paletteTexts.found : titleOf(group)}>
      {group === '' ? null : <div className={classes.group}>{titleOf(group)}</div>}
      {blocks.map((block) => (
        <BlockOption
          key={block.identifier}
          id={optionId(listId, block)}
          block={block}
          chosen={block === current}
          note={note?.(block) ?? ''}
          onChoose={onChoose}
          draggable={draggable && group !== OPERATIONS}
        />
      ))}
    </div>
  )
}

/** The whole is in the title: six lines of each block would show five blocks at once. */
function firstSentence(summary: string): string {
  return /^.+?[.](?=\s|$)/s.exec(summary)?.[0] ?? summary
}

interface BlockOptionProps {
  readonly id: string
  readonly block: BlockDescription
  readonly chosen: boolean
  readonly note: string
  readonly onChoose: (block: BlockDescription) => void
  readonly draggable: boolean
}

function BlockOption({ id, block, chosen, note, onChoose, draggable }: BlockOptionProps) {
  const drag = (event: DragEvent) => {
    event.dataTransfer.setData(BLOCK_TYPE, block.identifier)
    event.dataTransfer.effectAllowed = 'copy'
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard is in the search field above
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={chosen}
      className={classes.option}
      draggable={draggable}
      onDragStart={drag}
      onClick={() => onChoose(block)}
      title={`${block.summary}\n${block.identifier}`}
    >
      <span className={classes.mark} data-kind={block.kind} />
      <span className={classes.words}>
        <span className={classes.heading}>
          <span className={classes.title}>
            {block.title}
            {note === '' ? null : <span className={classes.note}>{note}</span>}
          </span>
          <span className={classes.gives}>
            {Object.entries(block.out)
              .filter(([, { type }]) => type !== 'flow')
              .slice(0, 2)
              .map(([pin, { type, help }]) => (
                <span key={pin} title={paletteTexts.gives(pin, type, help)}>
                  <PinMark type={type} size={11} />
                </span>
              ))}
          </span>
        </span>
        <span className={classes.summary}>{firstSentence(block.summary)}</span>
      </span>
    </div>
  )
}
