import { Box, Center, Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { blockTypesQuery } from '../../api/block-types.ts'
import { notifyFailed } from '../../controls/notify.ts'
import { ErrorNotice, FailedScreen } from '../../controls/states.tsx'
import { EditorFrame } from '../../editor/frame/editor-frame.tsx'
import { type Catalogue, catalogueOf } from '../../editor/model/block-description.ts'
import { type Editor, openEditor } from '../../editor/state/editor.ts'
import { EditorProvider } from '../../editor/state/editor-context.ts'
import { editorTexts } from '../../texts/editor.ts'
import type { ScreenProps } from '../screen-props.ts'

export function BlueprintScreen({ params }: ScreenProps) {
  return <BlueprintEditor guid={params.guid ?? ''} />
}

/** One blueprint, open for work: the canvas, the outline, what is staged, and trying it. */
function BlueprintEditor({ guid }: { guid: string }) {
  const types = useQuery({ ...blockTypesQuery, select: catalogueOf })
  if (types.error)
    return <ErrorNotice title={editorTexts.couldNotLoadBlocks} error={types.error} onRetry={types.refetch} />
  return types.data ? <OpenBlueprint key={guid} guid={guid} catalogue={types.data} /> : <Waiting />
}

function OpenBlueprint({ guid, catalogue }: { readonly guid: string; readonly catalogue: Catalogue }) {
  const [editor, setEditor] = useState<Editor>()
  const [error, setError] = useState<unknown>()
  const [tries, setTries] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try opens it again
  useEffect(() => {
    const opened = openEditor(guid, catalogue, { failed: notifyFailed })
    let closed = false
    opened.sync.refresh().then(
      () => closed || setEditor(opened),
      (reason: unknown) => closed || setError(reason),
    )
    return () => {
      closed = true
      setEditor(undefined)
      setError(undefined)
      opened.close()
    }
  }, [guid, catalogue, tries])
  if (error !== undefined)
    return (
      <Box p="lg">
        <FailedScreen
          title={editorTexts.couldNotOpenBlueprint}
          parent={{ href: '/blueprints', label: editorTexts.blueprints }}
          error={error}
          onRetry={() => setTries(tries + 1)}
        />
      </Box>
    )
  if (!editor) return <Waiting />
  return (
    <EditorProvider value={editor}>
      <EditorFrame />
    </EditorProvider>
  )
}

function Waiting() {
  return (
    <Center flex={1} role="status" aria-label={editorTexts.loading}>
      <Loader size="sm" />
    </Center>
  )
}
