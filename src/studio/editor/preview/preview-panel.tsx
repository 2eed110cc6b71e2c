import {
  Alert,
  Anchor,
  Group,
  SegmentedControl,
  Select,
  Text,
  TextInput,
  UnstyledButton,
  useComputedColorScheme,
} from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { PagePreview } from '../../../shared/api/blueprints/page-previews.ts'
import { ErrorNotice } from '../../controls/states.tsx'
import { tryTexts } from '../../texts/bar.ts'
import { previewPage } from '../api/editor-api.ts'
import { ProblemList } from '../bar/problem-list.tsx'
import { type FlowPage, pagesOf, parametersOf } from '../model/endpoints.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { clickedBlock, outlineBlocks, type PagePart, partsOf } from './page-parts.ts'
import classes from './preview.module.css'

/** Milliseconds without another change, after which the page is made again. */
const PAUSE = 400

/** The page as its staged blocks show it, made again when they are changed and stored. One request is sent at a time. */
function usePagePreview(page: string, parameters: Readonly<Record<string, string>>, query: string) {
  const blueprint = useEditorState(({ guid }) => guid)
  const known = useEditorState((state) => state.known)
  const isStored = useEditorState(({ storing }) => storing.state === 'stored')
  const theme = useComputedColorScheme('light')
  const [settled, setSettled] = useState({ known, count: 0 })
  useEffect(() => {
    if (!isStored || settled.known === known) return undefined
    const timer = setTimeout(() => setSettled({ known, count: settled.count + 1 }), PAUSE)
    return () => clearTimeout(timer)
  }, [known, isStored, settled])
  return useQuery({
    queryKey: ['preview', blueprint, page, parameters, query, theme, settled.count],
    // A request for what was drawn before is ended when the next one begins.
    queryFn: ({ signal }) => previewPage(blueprint, { page, parameters, query, theme }, signal),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  })
}

interface PreviewFrameProps {
  readonly html: string
  /** Of the screen that is shown; scaled down to the place that there is. */
  readonly width: number
  /** Told when the page is there. */
  readonly onParts: (parts: readonly PagePart[]) => void
}

/** Readable on light and dark pages. */
const OUTLINE = '#1c7ed6'

/**
 * A page without rights: its `sandbox` keeps its scripts from running, its forms from being sent and its links from leaving the
 * frame, where the policy of the studio stops them. `allow-same-origin` lets the studio read it; a page that runs no script cannot
 * make use of it. A click selects the block that made what is clicked.
 */
function PreviewFrame({ html, width, onParts }: PreviewFrameProps) {
  const editor = useEditor()
  const selection = useEditorState((state) => state.selection)
  const { ref, width: room, height } = useElementSize()
  const frame = useRef<HTMLIFrameElement>(null)
  const [loads, setLoads] = useState(0)
  const scale = room === 0 ? 1 : Math.min(1, room / width)
  const isKnown = (block: string) => editor.store.getState().drawing.flow.has(block)

  // biome-ignore lint/correctness/useExhaustiveDependencies: each load is another document
  useEffect(() => {
    const page = frame.current?.contentDocument
    if (page) outlineBlocks(page, selection, OUTLINE)
  }, [selection, loads])

  const loaded = () => {
    const page = frame.current?.contentDocument
    if (!page) return
    page.addEventListener('click', (event) => {
      // Links and buttons lead nowhere here; what opens and closes does.
      if (page.elementFromPoint(event.clientX, event.clientY)?.closest('a, button')) event.preventDefault()
      const block = clickedBlock(page, event, isKnown)
      if (block !== undefined) editor.focusPin(block, '')
    })
    onParts(partsOf(page, isKnown))
    setLoads((count) => count + 1)
  }

  return (
    <div ref={ref} className={classes.place}>
      <iframe
        ref={frame}
        title={tryTexts.previewOfThePage}
        sandbox="allow-same-origin"
        srcDoc={html}
        onLoad={loaded}
        className={classes.frame}
        style={{ width, height: height / scale, transform: `scale(${scale})` }}
      />
    </div>
  )
}

const widths = [
  { value: '390', label: tryTexts.phone },
  { value: '820', label: tryTexts.tablet },
  { value: '1280', label: tryTexts.desktop },
]

/** A page of the blueprint beside the drawing, as its staged blocks show it. */
export function PreviewPanel() {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const selection = useEditorState((state) => state.selection)
  const pages = useMemo(() => pagesOf(flow), [flow])
  const [chosen, setChosen] = useState(() => pages.find(({ block }) => selection.has(block))?.block ?? '')
  const page = pages.find(({ block }) => block === chosen) ?? pages[0]
  if (!page) return <Text size="sm">{tryTexts.noPage}</Text>
  return (
    <div className={classes.panel}>
      <Select
        size="xs"
        label={tryTexts.page}
        data={pages.map(({ block, path }) => ({ value: block, label: path }))}
        value={page.block}
        allowDeselect={false}
        onChange={(next) => setChosen(next ?? '')}
      />
      <ShownPreview key={page.block} page={page} />
    </div>
  )
}

/** The preview stays open beside the block that a problem leads to. */
const stay = () => undefined

function ShownPreview({ page }: { readonly page: FlowPage }) {
  const hasProblems = useEditorState(({ checked }) => checked.problems.length > 0)
  const [width, setWidth] = useState('390')
  const [parts, setParts] = useState<readonly PagePart[]>([])
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const parameters = Object.fromEntries(parametersOf(page.path).map((name) => [name, values[name] ?? '']))
  const { data, error, refetch } = usePagePreview(page.block, parameters, '')
  return (
    <>
      {Object.entries(parameters).map(([name, value]) => (
        <TextInput
          key={name}
          size="xs"
          label={name}
          value={value}
          onChange={(event) => {
            const { value: typed } = event.currentTarget
            setValues((now) => ({ ...now, [name]: typed }))
          }}
        />
      ))}
      <Group justify="space-between" wrap="nowrap">
        <SegmentedControl
          size="xs"
          aria-label={tryTexts.width}
          data={widths}
          value={width}
          onChange={setWidth}
        />
      </Group>
      {error && hasProblems ? (
        <Alert color="red" variant="light" title={tryTexts.cannotRun} role="alert">
          <ProblemList of="problems" onGo={stay} />
        </Alert>
      ) : error ? (
        <ErrorNotice title={tryTexts.previewFailed} error={error} onRetry={refetch} />
      ) : data?.failure ? (
        <PreviewFailure failure={data.failure} isPart={data.html !== null} />
      ) : data?.redirect ? (
        <Text size="sm">{tryTexts.redirects(data.redirect)}</Text>
      ) : data && data.html === null ? (
        <Text size="sm">{tryTexts.endedWithoutPage}</Text>
      ) : null}
      {data?.html && !error ? (
        <>
          <PartList page={page.block} parts={parts} />
          <PreviewFrame html={data.html} width={Number(width)} onParts={setParts} />
        </>
      ) : null}
    </>
  )
}

interface PartListProps {
  /** The block of the page itself. */
  readonly page: string
  readonly parts: readonly PagePart[]
}

/** How the page is made up: its blocks as they stand inside each other. A click selects one. */
function PartList({ page, parts }: PartListProps) {
  const all = [{ key: page, block: page, depth: 0 }, ...parts]
  return (
    <details className={classes.parts} open>
      <summary>{tryTexts.partsOfThePage}</summary>
      <ul aria-label={tryTexts.partsOfThePage}>
        {all.map(({ key, block, depth }) => (
          <li key={key} style={{ paddingLeft: 12 * depth }}>
            <Part block={block} />
          </li>
        ))}
      </ul>
    </details>
  )
}

function Part({ block }: { readonly block: string }) {
  const editor = useEditor()
  const isSelected = useEditorState((state) => state.selection.has(block))
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  // It was removed since the preview was made.
  if (!flow.has(block)) return null
  return (
    <UnstyledButton
      className={classes.part}
      aria-current={isSelected || undefined}
      onClick={() => editor.focusPin(block, '')}
    >
      {wordsOf(flow, catalogue, block).title}
    </UnstyledButton>
  )
}

interface PreviewFailureProps {
  readonly failure: NonNullable<PagePreview['failure']>
  /** Whether the rest of the page is shown. */
  readonly isPart: boolean
}

/** Why the page, or a part of it, cannot be shown, with a link to the block. */
function PreviewFailure({ failure, isPart }: PreviewFailureProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const { block, pin, message } = failure
  return (
    <Alert
      color={isPart ? 'sand' : 'red'}
      variant="light"
      title={isPart ? tryTexts.partLeftOut : tryTexts.pageFailed}
      role="alert"
    >
      <Text size="sm">{message}</Text>
      {block !== null && flow.has(block) ? (
        <Anchor component="button" type="button" size="sm" onClick={() => editor.focusPin(block, pin ?? '')}>
          {wordsOf(flow, catalogue, block).title}
        </Anchor>
      ) : null}
    </Alert>
  )
}
