import { Alert, Group, SegmentedControl, Select, Text, TextInput } from '@mantine/core'
import { useMemo, useState } from 'react'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { tryTexts } from '../../texts/try.ts'
import { ProblemList } from '../bar/problem-list.tsx'
import { parametersOf } from '../model/endpoints.ts'
import { type FlowPage, pagesOf } from '../model/flow-pages.ts'
import { useEditorState } from '../state/editor-context.ts'
import type { PagePart } from './page-parts.ts'
import { PartList } from './part-list.tsx'
import classes from './preview.module.css'
import { PreviewFailure } from './preview-failure.tsx'
import { PreviewFrame } from './preview-frame.tsx'
import { usePagePreview } from './use-page-preview.ts'

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
