import { Text } from '@mantine/core'
import type { Operation } from '../../api/open-api.ts'
import { MethodTag } from '../../controls/method-tag.tsx'
import { referenceTexts } from '../../texts/reference.ts'
import classes from './two-columns.module.css'

interface OperationListProps {
  readonly byTag: readonly { readonly tag: string; readonly operations: readonly Operation[] }[]
  readonly open: string
  readonly onOpen: (id: string) => void
}

export function OperationList({ byTag, open, onOpen }: OperationListProps) {
  if (byTag.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {referenceTexts.noMatch}
      </Text>
    )
  return (
    <nav aria-label={referenceTexts.endpoints}>
      {byTag.map(({ tag, operations }) => (
        <section key={tag}>
          <h2 className={classes.tag}>{tag}</h2>
          <ul className={classes.items}>
            {operations.map((operation) => (
              <li key={operation.id}>
                <button
                  type="button"
                  className={classes.item}
                  aria-current={operation.id === open}
                  title={operation.id}
                  onClick={() => onOpen(operation.id)}
                >
                  <MethodTag method={operation.method} />
                  <span>{operation.summary ?? operation.path}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}
