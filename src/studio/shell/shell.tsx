import { AppShell, Burger, Group, Kbd, UnstyledButton } from '@mantine/core'
import { useDisclosure, useLocalStorage } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ConfirmDialog } from '../controls/confirm-dialog.tsx'
import { Icon } from '../controls/icon.tsx'
import mark from '../quoin.svg'
import { useScreen } from '../screens/use-screen.ts'
import { shellTexts } from '../texts/shell.ts'
import { ClusterName } from './cluster-name.tsx'
import { CommandPalette } from './command-palette.tsx'
import { Navigation } from './navigation.tsx'
import classes from './shell.module.css'
import { listenToKeys, useShortcut } from './shortcuts.ts'
import { ShortcutsDialog } from './shortcuts-dialog.tsx'
import { ThemeSwitch } from './theme-switch.tsx'
import { useGoShortcuts } from './use-go-shortcuts.ts'
import { UserMenu } from './user-menu.tsx'

/** Header, navigation and the screen between them. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [path] = useLocation()
  const isCanvas = useScreen()?.layout === 'canvas'
  const [isMenuOpen, menu] = useDisclosure(false)
  const [isPaletteOpen, palette] = useDisclosure(false)
  const [isHelpOpen, help] = useDisclosure(false)
  const [narrow] = useLocalStorage({ key: 'quoin.narrow', defaultValue: false })
  const isNarrow = (isCanvas || narrow) && !isMenuOpen
  useEffect(listenToKeys, [])
  useGoShortcuts()
  useShortcut(
    { keys: 'mod+k', label: shellTexts.search, group: shellTexts.everywhere, whileTyping: true },
    palette.toggle,
  )
  useShortcut({ keys: '?', label: shellTexts.thisList, group: shellTexts.everywhere }, help.toggle)
  const main = useFocusOnChange(path)
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{
        width: isNarrow ? 56 : 208,
        breakpoint: 'md',
        collapsed: { mobile: !isMenuOpen },
      }}
      padding={0}
      transitionDuration={0}
    >
      <a href="#main" className="skip">
        {shellTexts.toTheContent}
      </a>
      <AppShell.Header className={classes.header}>
        <Group h="100%" px="sm" gap="sm" wrap="nowrap">
          <Burger
            opened={isMenuOpen}
            onClick={menu.toggle}
            hiddenFrom="md"
            size="sm"
            aria-label={shellTexts.navigation}
          />
          <Link href="/" className={classes.brand}>
            <img src={mark} alt="" width={22} height={22} />
            Quoin
          </Link>
          <ClusterName />
          <UnstyledButton className={classes.search} onClick={palette.open} aria-keyshortcuts="Control+K">
            <Icon name="search" size={15} />
            <span className={classes.searchWords}>{shellTexts.searchButton}</span>
            <Kbd size="xs" visibleFrom="sm">
              {shellTexts.ctrlK}
            </Kbd>
          </UnstyledButton>
          <ThemeSwitch />
          <UserMenu onHelp={help.open} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar}>
        <Navigation narrow={isNarrow} onGo={menu.close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} className={isCanvas ? classes.canvas : classes.page}>
        {isCanvas ? children : <div className={classes.column}>{children}</div>}
      </AppShell.Main>
      <ConfirmDialog />
      <CommandPalette opened={isPaletteOpen} onClose={palette.close} />
      <ShortcutsDialog opened={isHelpOpen} onClose={help.close} />
    </AppShell>
  )
}

/** After going to another screen the focus is at its beginning, not on what is gone; not when the page is first opened. */
function useFocusOnChange(path: string) {
  const main = useRef<HTMLElement>(null)
  const [first] = useState(path)
  const hasMoved = useRef(false)
  useEffect(() => {
    if (path !== first) hasMoved.current = true
    if (hasMoved.current) main.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [path, first])
  return main
}
