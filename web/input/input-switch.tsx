import { update, workspace } from '../state/playground.ts';

/** Whether objects are evaluated, or what a kustomization builds. */
export function InputSwitch() {
  const isBuild = workspace.value.folder !== undefined;
  const build = async () => {
    if (workspace.value.files.length > 0) update({ folder: '' });
    else await (await import('../kustomize/open.ts')).openFirstExample();
  };
  return (
    <div class="segments" role="group" aria-label="Input">
      <button type="button" aria-pressed={!isBuild} onClick={() => update({ folder: undefined })}>
        Objects
      </button>
      <button type="button" aria-pressed={isBuild} onClick={() => void (isBuild || build())}>
        Kustomize
      </button>
    </div>
  );
}
