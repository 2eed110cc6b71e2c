import { readFileSync } from 'node:fs'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** What the server puts a new value in for at each request; see `src/http/routes/site/studio-files.ts`. */
const NONCE = 'studio-nonce'

/** Components of the library that no screen uses. Using one fails the build until its name goes from here. */
const unusedComponents =
  'Accordion AngleSlider Card Cascader Chip ColorPicker EmptyState Marquee NavLink Radio RadioIndicator Slider Stepper Timeline Toggle Toolbar Tour Tree TreeSelect Typography'.split(
    ' ',
  )

/** Leaves the styles of those out: 8 KB less for the first page. */
const usedStyles: Plugin = {
  name: 'used-styles',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/@mantine/core/styles.css')) return undefined
    return unusedComponents.reduce((rest, name) => {
      const styles = readFileSync(id.replace('styles.css', `styles/${name}.css`), 'utf8').trim()
      if (!rest.includes(styles)) throw new Error(`The styles of ${name} are not among those of the library.`)
      return rest.replace(styles, () => '')
    }, code)
  },
  generateBundle(_options, bundle) {
    const rendered = Object.values(bundle).flatMap((file) =>
      file.type === 'chunk' ? Object.entries(file.modules) : [],
    )
    for (const [id, { renderedLength }] of rendered) {
      const [, name = ''] = /@mantine\/core\/.*\/(\w+)\.module/.exec(id) ?? []
      if (renderedLength > 0 && unusedComponents.includes(name))
        throw new Error(`${name} is used, and its styles are left out.`)
    }
  },
}

/** For the build and for `npm run dev` (`scripts/dev/studio.ts`). */
export default defineConfig({
  root: import.meta.dirname,
  base: '/studio/',
  plugins: [usedStyles, react()],
  html: { cspNonce: NONCE },
  build: {
    outDir: '../../dist/studio',
    emptyOutDir: true,
    target: 'es2023',
    // From these on browsers know light-dark() themselves; translated, it would not follow the switch in the header.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Nothing inline: the policy allows no code and no data that is not a file of ours.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Shipped with the package: the licences of what is bundled.
    license: { fileName: 'THIRD-PARTY.md' },
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        // Few files that change rarely instead of a hundred small ones: what all screens need is one of libraries and one of ours.
        codeSplitting: {
          // Else the canvas would take React along, and be loaded by everything.
          includeDependenciesRecursively: false,
          groups: [
            // What the sign-in form needs: it is there before React is.
            {
              name: 'sign-in',
              test: /node_modules\/zustand\/esm\/vanilla|src\/studio\/(quoin\.svg|sign-in\/|api\/(api-error|page-session|request|saved-places|session)|texts\/(api|sign-in)\.ts)/,
              priority: 5,
            },
            { name: 'canvas', test: /node_modules\/(@xyflow|d3-|classcat)/, priority: 3 },
            { name: 'layout', test: /node_modules\/@dagrejs/, priority: 3 },
            {
              name: 'code-editor',
              test: /node_modules\/(@codemirror|@lezer|@marijn|style-mod|crelt|w3c-keyname)|src\/expressions\/language\/declared/,
              priority: 4,
            },
            { name: 'expressions', test: /node_modules\/acorn|src\/expressions\//, priority: 3 },
            // Only who adds an authenticator app sees a QR code.
            { name: 'libraries', test: /node_modules\/(?!uqr)/, priority: 2 },
            // Not what only the editor, some dialogs or one screen use: files, pages, tests, figures, applications, assets, keys and jobs.
            // 17 KB less for the first page.
            {
              name: 'controls',
              test: /src\/(studio\/(api\/(?!blueprint-transfer|applications|assets|credentials|endpoint-traffic|open-api|operations|run-place)|controls\/(?!charts|cron-labels|disputes-dialog|json\/difference|send-again|undo-run)|shell\/|theme\/|texts\/(api|controls|shell)\.ts)|shared\/(?!application|canvas|rows|scenarios|value-differences|resource\/(?!resource(?:-endpoints)?\.ts)))/,
              priority: 1,
            },
          ],
        },
      },
    },
    manifest: true,
  },
})
