/** Operations of other APIs in the palette: each looks like a block, and becomes one that calls it. */
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { BlockDescription } from '../../../shared/api/blocks/blocks.ts'
import type { ListedOperation } from '../../../shared/api/operate/operations.ts'
import { findOperations, wholeOperation } from '../../api/api-documents.ts'
import { notifyFailed } from '../../controls/notify.ts'
import { paletteTexts } from '../../texts/editor.ts'
import { setField, setLiteral } from '../model/changes/flow-changes.ts'
import type { Editor } from '../state/editor.ts'

const CALL = 'call_operation'
const BEFORE_GUID = `${CALL}:`
export const OPERATIONS = 'operations'
const MOST = 30
/** Letters of a search; fewer find too many. */
const FEWEST = 2
const none: readonly ListedOperation[] = []

/** The operations that have the words, where a block that calls one fits. Nothing for users who may not see connections. */
export function useFoundOperations(
  blocks: readonly BlockDescription[],
  text: string,
): readonly BlockDescription[] {
  const [words] = useDebouncedValue(text.trim(), 200)
  const caller = blocks.find(({ identifier }) => identifier === CALL)
  const isAsked = caller !== undefined && words.length >= FEWEST
  const { data = none } = useQuery({
    queryKey: ['operations', words],
    queryFn: ({ signal }) => findOperations(words, MOST, signal),
    enabled: isAsked,
    retry: false,
    staleTime: 30_000,
  })
  return useMemo(
    () => (caller && isAsked && text.trim() === words ? data.map((one) => asBlock(caller, one)) : []),
    [caller, isAsked, data, text, words],
  )
}

function asBlock(
  caller: BlockDescription,
  { _meta, title, method, path, connection }: ListedOperation,
): BlockDescription {
  return {
    ...caller,
    identifier: `${BEFORE_GUID}${_meta.guid}`,
    title,
    summary: paletteTexts.operationOf(method, path, connection),
  }
}

/** The type of the block that is added for what was chosen. */
export function typeOfChosen(identifier: string): string {
  return identifier.startsWith(BEFORE_GUID) ? CALL : identifier
}

/** Adds what was chosen: of an operation a block that has it, and its connection. `add` gives the guid of the new block. */
export async function addChosen(
  editor: Editor,
  identifier: string,
  add: (type: string) => string | undefined,
): Promise<void> {
  if (!identifier.startsWith(BEFORE_GUID)) return void add(identifier)
  try {
    const { definition, connection } = await wholeOperation(identifier.slice(BEFORE_GUID.length))
    const guid = add(CALL)
    if (guid === undefined) return
    const { catalogue } = editor.store.getState()
    editor.run(paletteTexts.chooseOperation, (flow) =>
      setLiteral(
        setField(flow, catalogue, guid, 'operation', JSON.parse(JSON.stringify(definition))),
        guid,
        'connection',
        connection,
      ),
    )
  } catch (error) {
    notifyFailed(paletteTexts.noOperation, error)
  }
}
