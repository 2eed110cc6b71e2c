import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { Icon } from '../../controls/icon.tsx'
import { isOpenable } from '../../controls/pages/page-path.ts'
import { barTexts } from '../../texts/bar.ts'
import { useDeployedPages } from '../api/deployed-pages.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'

/** Opens a page of the blueprint as visitors see it: the deployed one. Nothing for a blueprint without pages, or inactive. */
export function OpenPagesMenu() {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const pages = useDeployedPages() ?? []
  const [only] = pages
  if (only === undefined) return null
  if (pages.length === 1 && isOpenable(only.path))
    return (
      <Tooltip label={barTexts.open(only.path)}>
        <ActionIcon
          component="a"
          href={only.path}
          target="_blank"
          rel="noopener"
          variant="default"
          size={30}
          aria-label={barTexts.openInTab(only.path)}
        >
          <Icon name="external" size={15} />
        </ActionIcon>
      </Tooltip>
    )
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={barTexts.openAPage}>
          <Icon name="external" size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown mah="60vh" style={{ overflowY: 'auto' }}>
        {pages.map(({ block, path }) =>
          isOpenable(path) ? (
            <Menu.Item key={block} component="a" href={path} target="_blank" rel="noopener">
              {path}
            </Menu.Item>
          ) : flow.has(block) ? (
            // The panel of its block asks for the parameters.
            <Menu.Item key={block} onClick={() => editor.focusPin(block, '')}>
              {path} …
            </Menu.Item>
          ) : null,
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
