/** The namespace of a server that runs outside a cluster. */
export const defaultNamespace = 'kymera';

/** On every object that belongs to this installation. */
export const managedLabels = { 'app.kubernetes.io/managed-by': 'kymera' } as const;
export const managedSelector = 'app.kubernetes.io/managed-by=kymera';

/** The field manager of everything that this program writes. It must never change. */
export const fieldManager = 'kymera';
