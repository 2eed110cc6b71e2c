import { Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { OpenPage } from '../../controls/pages/open-page.tsx'
import { isOpenable, pagePath } from '../../controls/pages/page-path.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { useDeployedPages } from '../api/deployed-pages.ts'
import { filledUri, parametersOf } from '../model/endpoints.ts'
import { inPinOf } from '../model/flow.ts'

interface PageLinkProps {
  readonly block: string
  readonly content: BlockContent
}

/** Where the page of a block is live, or that it is not yet. Values for the parameters of its path are asked for. */
export function PageLink({ block, content }: PageLinkProps) {
  const pages = useDeployedPages()
  const drawn = pagePath(inPinOf(content, 'url')?.value)
  if (pages === undefined) return null
  const live = pages.find((page) => page.block === block)?.path
  if (live === undefined)
    return drawn === undefined ? null : (
      <Text size="xs" c="dimmed">
        {propertiesTexts.pageNotLive}
      </Text>
    )
  return (
    <Stack gap={4}>
      {isOpenable(live) ? (
        <OpenPage path={live} label={propertiesTexts.open(live)} />
      ) : (
        <FilledPage path={live} />
      )}
      {drawn === undefined || drawn === live ? null : (
        <Text size="xs" c="dimmed">
          {propertiesTexts.pageMoved(drawn)}
        </Text>
      )}
    </Stack>
  )
}

/** Asks for the parameters of a path; the link is there when all have a value. */
function FilledPage({ path }: { readonly path: string }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const names = parametersOf(path)
  const filled = filledUri(path, values)
  return (
    <>
      {names.map((name) => (
        <TextInput
          key={name}
          size="xs"
          label={propertiesTexts.placeholderOf(name, path)}
          value={values[name] ?? ''}
          onChange={(event) => {
            const { value } = event.currentTarget
            setValues((now) => ({ ...now, [name]: value }))
          }}
        />
      ))}
      {names.every((name) => values[name]) ? (
        <OpenPage path={filled} label={propertiesTexts.openFilled(filled)} />
      ) : (
        <Text size="xs" c="dimmed">
          {propertiesTexts.fillPath}
        </Text>
      )}
    </>
  )
}
