import { Alert, Button, Group, Pagination, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldsQuery } from '../../../api/storages.ts'
import { saveFile } from '../../../controls/save-file.ts'
import { ErrorNotice } from '../../../controls/states.tsx'
import { transferTexts } from '../../../texts/documents.ts'
import { controlsTexts } from '../../../texts/shell.ts'
import { SendError, Sending, useUndo } from './import-result.tsx'
import { changeLines, continueImport, dismissImport, MOST_LISTED } from './saved-imports.ts'
import type { SavedImport } from './stored-imports.ts'
import { WrongLineCard } from './wrong-line-card.tsx'
import { isMended, reasonsFile } from './wrong-lines.ts'

/** Lines on a page: each has some inputs. */
const PAGE = 25

interface WrongLinesProps {
  readonly saved: SavedImport
  /** Its name. */
  readonly storage: string
  readonly onClose: () => void
}

/** The lines that an import refused, in the order of the file: mended here and sent again, or taken along as a file. */
export function WrongLinesForm({ saved, storage, onClose }: WrongLinesProps) {
  const { lines, isPending } = saved
  const mended = lines.filter(isMended).length
  const isTooMany = isPending && lines.length >= MOST_LISTED
  const [share, setShare] = useState<number>()
  const send = useMutation({
    mutationFn: () => continueImport(saved, { onProgress: setShare, signal: new AbortController().signal }),
    onSettled: () => setShare(undefined),
  })
  return (
    <Stack gap="md">
      <Summary saved={saved} />
      <Lines saved={saved} storage={storage} />
      <SendError error={send.error} otherwise={transferTexts.couldNotImportLines} />
      <Sending share={share} />
      <Group justify="space-between" gap="xs">
        <Others saved={saved} onClose={onClose} />
        <Group gap="xs">
          <Button variant="default" onClick={onClose}>
            {transferTexts.close}
          </Button>
          <Button
            loading={send.isPending}
            disabled={isTooMany || (!isPending && mended === 0)}
            onClick={() => send.mutate()}
          >
            {isPending
              ? transferTexts.importOthers(lines.length - mended)
              : transferTexts.importMended(mended)}
          </Button>
        </Group>
      </Group>
      <Text size="xs" c="dimmed">
        {isTooMany ? transferTexts.tooManyWrong : transferTexts.wrongLinesHelp(saved.draft.file.name)}
      </Text>
    </Stack>
  )
}

function Lines({ saved, storage }: Omit<WrongLinesProps, 'onClose'>) {
  const { lines } = saved
  const { data: fields = [] } = useQuery({ ...fieldsQuery(storage), retry: false })
  const [page, setPage] = useState(1)
  const pages = Math.ceil(lines.length / PAGE)
  const at = Math.min(page, pages)
  return (
    <>
      <Stack
        gap="xs"
        component="ol"
        m={0}
        p={0}
        aria-label={transferTexts.refusedLines}
        mah="calc(100dvh - 380px)"
        mih={220}
        style={{ overflow: 'auto' }}
      >
        {lines.slice((at - 1) * PAGE, at * PAGE).map((line) => (
          <WrongLineCard
            key={line.line}
            line={line}
            lines={saved}
            fields={fields}
            onChange={(next) => changeLines(saved, next)}
          />
        ))}
      </Stack>
      {pages > 1 ? (
        <Pagination
          size="sm"
          total={pages}
          value={at}
          onChange={setPage}
          getControlProps={(control) => ({ 'aria-label': controlsTexts.pageControl(control) })}
          getItemProps={(requested) => ({ 'aria-label': controlsTexts.pageNumber(requested) })}
        />
      ) : null}
    </>
  )
}

function Summary({ saved }: { readonly saved: SavedImport }) {
  const { lines, isPending, imported, refused, refusedLines } = saved
  const count = lines.length.toLocaleString()
  return (
    <Alert color={isPending ? 'red' : 'sand'} variant="light" role="status">
      <Text size="sm">
        {isPending
          ? transferTexts.nothingYet(count, lines.length)
          : transferTexts.someImported(imported.toLocaleString(), imported, count, lines.length)}
      </Text>
      {refusedLines === undefined ? null : (
        <Text size="sm" lineClamp={3}>
          {transferTexts.leftOutLines(refused.toLocaleString(), refusedLines)}
        </Text>
      )}
    </Alert>
  )
}

function Others({ saved, onClose }: Omit<WrongLinesProps, 'storage'>) {
  const { storage, file } = saved.draft
  const take = useUndo(storage)
  const dismiss = () => {
    dismissImport(storage)
    if (!saved.isPending) onClose()
  }
  const download = () => {
    const { ending, text } = reasonsFile(saved)
    const type = ending === 'csv' ? 'text/csv' : 'application/x-ndjson'
    saveFile(transferTexts.wrongLinesFile(file.name, ending), new Blob([text], { type }))
  }
  return (
    <Group gap="xs">
      <Button variant="default" onClick={dismiss}>
        {saved.isPending ? transferTexts.backToFile : transferTexts.dismiss}
      </Button>
      <Button variant="default" onClick={download}>
        {transferTexts.downloadWrongLines}
      </Button>
      {saved.undo.length === 0 ? null : (
        <Button
          variant="default"
          loading={take.isPending}
          onClick={() => take.mutate(saved.undo, { onSuccess: dismiss })}
        >
          {transferTexts.undoTheImport}
        </Button>
      )}
      <ErrorNotice error={take.error} title={transferTexts.couldNotUndoImport} />
    </Group>
  )
}
